"""Cases 12 and 14: the word arm alone finds a note by a word of it, in any script and with any sign, as people type it.

Nothing is embedded here: each query shares with its note what the query's script calls a word, in another case, width,
spelling or inflection, with and without the marks that many keyboards lack.
"""

from collections.abc import Iterator

import pytest

from cases.small_vaults import OPEN, indexed
from vault_ask.composition.library import Library

NOTES = {
    "c.md": "Notes on the C language: pointers and arrays in C. C C C.\n",
    "cs.md": "Notes on the C# language: delegates.\n",
    "cpp.md": "Notes on the C++ language: templates.\n",
    "vitamin.md": "Vitamin C is found in oranges. C is good.\n",
    "code.md": "snake_case_name calls node.js v2.3.1 at 192.168.1.10 for user@host.example\n",
    "money.md": "Spent 45% of it: €1,300.75 on 3/4 inch pipes from AC/DC, phone +46 70-123 45 67\n",
    "short.md": "Tom & Jerry: Wi-Fi, A/B-test, T-shirt, R&D, 24/7 and O’Brien\n",
    "error.md": "ERR_CONNECTION_REFUSED 0x80070057 at /usr/local/bin #budget2026\n",
    "marks.md": "naïve façade, Ångström, œuvre, Zürich, ÜBERGRÖSSE\n",
    "de.md": "der Mietvertrag liegt in der Schublade und die Fenster sind alt\n",
    "ja.md": "来月の家賃交渉のメモ、ﾃﾞｰﾀﾍﾞｰｽの移行\n",
    "ko.md": "집주인에게 보증금을 돌려받았다\n",
    "zh.md": "这份合同的违约金条款\n",
    "tw.md": "這份文件的封面設計\n",
    "th.md": "กุญแจสำรองอยู่ใต้เตาเผา\n",
    "km.md": "សោររក្សាទុកនៅក្រោមឡ\n",
    "my.md": "သော့ကို မီးဖိုအောက်မှာ ထားတယ်\n",
    "lo.md": "ກະແຈຢູ່ໃຕ້ເຕົາ\n",
    "ar.md": "والكتاب على الطاولة والمفاتيح في الدرج\n",
    "he.md": "המפתחות במגירה של השולחן\n",
    "hi.md": "चाबी दराज में है और किराया दस हज़ार है\n",
    "vi.md": "Hợp đồng thuê nhà hết hạn tháng sáu\n",
    "el.md": "Το ενοίκιο είναι πεντακόσια ευρώ\n",
    "ru.md": "Ключи лежат под печкой, ёлка в чулане\n",
    "uk.md": "п\u02bcять котів у подвір\u02bcї та об’єкт\n",
    "clip.md": "A zeppe\u200blin dirig\u00adible, cut by a web page\n",
    "heart.md": "remember ❤️ and 🇸🇪 at the party 👩‍👩‍👧\n",
    "warning.md": "beware ⚠️ of the dog\n",
    "🎯 Aims.md": "be better\n",
    "tr.md": "Kira sözleşmesi İzmir'de imzalandı ve ışık açık\n",
}
FOUND = {
    "c.md": ["C"],
    "cs.md": ["C#", "c#", "delegates in C#"],
    "cpp.md": ["C++", "c++ templates"],
    "code.md": ["snake_case_name", "snake case", "node.js", "2.3.1", "192.168.1.10", "host.example"],
    "money.md": ["45%", "1,300.75", "€1,300.75", "AC/DC", "ac dc", "70-123 45 67"],
    "short.md": ["Wi-Fi", "wi fi", "R&D", "24/7", "T-shirt", "O'Brien", "O’BRIEN"],
    "error.md": ["connection refused", "0x80070057", "/usr/local/bin", "#budget2026", "budget2026"],
    "marks.md": ["naive", "facade", "ångström", "angstrom", "oeuvre", "zurich", "Übergröße", "ubergrosse"],
    "de.md": ["Vertrag", "mietverträge", "fenstern"],
    "ja.md": ["家賃", "交渉", "データベース", "賃"],
    "ko.md": ["보증금", "보증금은 얼마?", "집주인"],
    "zh.md": ["合同", "違約金", "款"],
    "tw.md": ["封面", "设计", "文件的封面"],
    "th.md": ["กุญแจ", "เตาเผา"],
    "km.md": ["សោ"],
    "my.md": ["သော့", "ဖို"],
    "lo.md": ["ເຕົາ"],
    "ar.md": ["الكتاب", "مفاتيح"],
    "he.md": ["מפתחות", "מגירה"],
    "hi.md": ["हजार", "हज़ार", "चाबी"],
    "vi.md": ["hop dong", "hợp đồng", "HỢP ĐỒNG"],
    "el.md": ["ενοικιο", "ΕΝΟΊΚΙΟ"],
    "ru.md": ["ключ", "елка", "ЁЛКА"],
    "uk.md": ["п'ять", "п’ять", "П\u02bcЯТЬ", "об'єкт", "об\u02bcєкт"],
    "clip.md": ["zeppelin", "dirigible", "dirig\u200bible"],
    "heart.md": ["❤️", "❤", "🇸🇪", "👩‍👩‍👧"],
    "warning.md": ["⚠️", "⚠ dog"],
    "🎯 Aims.md": ["🎯", "🎯 aims"],
    "tr.md": ["izmir", "İZMİR", "sozlesme", "IŞIK"],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = indexed(tmp_path_factory.mktemp("scripts"), NOTES)
    yield library
    library.close()


@pytest.mark.parametrize("path", FOUND)
def test_the_note_that_holds_the_word_comes_first(library: Library, path: str) -> None:
    first = {}
    for query in FOUND[path]:
        hits = library.retrieve(query, scope=OPEN, arm="text").hits
        first[query] = hits[0].path if hits else None
    assert first == dict.fromkeys(FOUND[path], path)


@pytest.mark.parametrize("query", ["結制", "مفتاحك", "Zuerichsee", "halftimbered", "ぱそこん", "٪", "☀️", "🇳🇴"])
def test_what_no_note_holds_is_not_found_by_words(library: Library, query: str) -> None:
    assert library.retrieve(query, scope=OPEN, arm="text").hits == ()
    assert library.retrieve(f"{query} 家賃", scope=OPEN, arm="text").hits[0].path == "ja.md"
