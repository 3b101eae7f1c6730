"""Case 13: a question whose only known word is in every note is still answered by words, for each reader his own."""

from pathlib import Path

from cases.small_vaults import OPEN, PRIVATE, indexed

PERSONAL = {f"Own/p{n:03}.md": f"toll quarrel number {n} with the ferryman\n" for n in range(1, 121)}
NOTES = {**PERSONAL, **{f"All/o{n}.md": f"toll table of harbour {n}\n" for n in (1, 2, 3)}}


def test_a_word_of_every_note_is_asked_for_when_the_others_are_unknown(tmp_path: Path) -> None:
    library = indexed(tmp_path, NOTES, personal_paths=["Own"])
    for arm in ("text", "hybrid"):
        found = library.retrieve("whatever happens to the toll?", scope=OPEN, k=10, arm=arm)
        assert {hit.path for hit in found.hits} == {"All/o1.md", "All/o2.md", "All/o3.md"}
        found = library.retrieve("whatever happens to the toll?", scope=PRIVATE, k=10, arm=arm)
        assert len(found.hits) == 10


def test_sixty_unknown_words_do_not_push_the_known_one_out_of_the_query(tmp_path: Path) -> None:
    library = indexed(tmp_path, {"A.md": "the ferry leaves at nine\n", "B.md": "the barn is red\n"})
    question = " ".join(f"xq{n}zz" for n in range(200)) + " ferry"
    assert [hit.path for hit in library.retrieve(question, scope=OPEN, arm="text").hits] == ["A.md"]
