import { describe, expect, it } from "vitest";
import {
  checkAddress,
  checkLanguage,
  checkSources,
  DEFAULTS,
  readSettings,
} from "../../../obsidian-plugin/src/settings";

describe("An address", () => {
  it.each([
    ["http://nas:8765", "http://nas:8765"],
    ["  http://nas:8765/ ", "http://nas:8765"],
    ["nas:8765", "http://nas:8765"],
    ["nas", "http://nas"],
    ["192.168.1.5:8765/", "http://192.168.1.5:8765"],
    ["HTTPS://Nas.Example/vault/", "https://nas.example/vault"],
    ["https://nas.example/vault//", "https://nas.example/vault"],
    ["http://nas:8765/chat", "http://nas:8765"],
    ["https://nas.example/vault/chat/", "https://nas.example/vault"],
    ["[::1]:8765", "http://[::1]:8765"],
    ["http://[fd00::1]:8765", "http://[fd00::1]:8765"],
    ["::1", "http://[::1]"],
    ["fd00:0:0::5", "http://[fd00::5]"],
    ["http://nas:80", "http://nas"],
    ["localhost:8765", "http://localhost:8765"],
    ["http://bücher.example", "http://xn--bcher-kva.example"],
  ])("%s is used as %s", (typed, address) => {
    expect(checkAddress(typed)).toEqual({ address });
    expect(checkAddress(address)).toEqual({ address });
  });

  it.each([
    ["", "Enter the daemon's address"],
    ["   ", "Enter"],
    ["http://", "such as http://nas:8765"],
    ["my nas", "such as http://nas:8765"],
    ["nas:99999", "such as http://nas:8765"],
    ["http://[::1", "such as http://nas:8765"],
    ["ftp://nas", "begins with http:// or https://"],
    ["obsidian://open", "begins with http:// or https://"],
    ["http://user:secret@nas:8765", "name or password"],
    ["user@nas", "name or password"],
    ["http://nas:8765/?token=secret", "up to ? or #"],
    ["http://nas:8765/#x", "up to ? or #"],
    ["nas%208765", "Enter the daemon's address"],
    ["https//nas", "Enter the daemon's address"],
    ["http:/nas:8765", "Enter the daemon's address"],
    ["http://0.0.0.0:8765", "Enter the name or address"],
    ["http://[::]:8765", "Enter the name or address"],
  ])("%j is refused with a sentence that does not repeat it", (typed, words) => {
    const checked = checkAddress(typed);
    expect(checked).toHaveProperty("wrong");
    expect("wrong" in checked && checked.wrong).toContain(words);
    expect("wrong" in checked && checked.wrong).not.toContain("secret");
  });
});

describe("A language and a number of sources", () => {
  it("may be empty, or what the daemon takes", () => {
    for (const tag of ["", " ", "en", "de", "pt-BR", "zh-Hant-TW", " sv "]) expect(checkLanguage(tag), tag).toBeNull();
    for (const tag of ["e", "english", "en_US", "en-", "12", `en${"-abcdefgh".repeat(4)}`]) {
      expect(checkLanguage(tag), tag).toContain("a tag such as");
    }
    for (const n of ["", "1", " 8 ", "50"]) expect(checkSources(n), n).toBeNull();
    for (const n of ["0", "51", "-1", "2.5", "1e1", "x", "0x8"]) expect(checkSources(n), n).toContain("1 to 50");
  });
});

describe("Stored settings", () => {
  it("are read as they are", () => {
    const stored = {
      address: "https://nas/vault",
      tokenSecret: "t",
      personalByDefault: true,
      language: "de",
      sources: 12,
      openIn: "tab",
    };
    expect(readSettings(stored)).toEqual(stored);
  });

  it.each([null, undefined, 7, "x", [], {}])("of %j are the defaults", (stored) => {
    expect(readSettings(stored)).toEqual(DEFAULTS);
  });

  it("fall back value by value", () => {
    const stored = {
      address: "ftp://x",
      tokenSecret: 7,
      personalByDefault: "yes",
      language: "not a tag",
      sources: 3.5,
      openIn: "nowhere",
      more: 1,
    };
    expect(readSettings(stored)).toEqual(DEFAULTS);
    expect(readSettings({ ...stored, sources: 3, language: " sv " })).toEqual({
      ...DEFAULTS,
      sources: 3,
      language: "sv",
    });
  });
});
