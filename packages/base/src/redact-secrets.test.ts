import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodedForms } from "./encoded-forms.ts";
import { redactSecrets } from "./redact-secrets.ts";
import { Secret } from "./secret.ts";

describe("redactSecrets", () => {
  it("takes values out of a text as they are, in base64, percent-encoded and line by line", () => {
    const secrets = {
      key: Secret.of("p@ss word/1"),
      longer: Secret.of("p@ss word/1-and-more"),
      pem: Secret.of("-----BEGIN-----\nMIIEvgIBADANBgkqhkiG9w0B\n-----END-----"),
    };
    const text = [
      "raw p@ss word/1.",
      `base64 ${Buffer.from("p@ss word/1").toString("base64")}`,
      `url ${encodeURIComponent("p@ss word/1")}`,
      "p@ss word/1-and-more",
      "line MIIEvgIBADANBgkqhkiG9w0B",
    ].join("\n");
    expect(redactSecrets(text, secrets)).toBe(
      "raw [redacted].\nbase64 [redacted]\nurl [redacted]\n[redacted]\nline [redacted]",
    );
  });

  it("leaves a text alone that has none, and values too short to be secret", () => {
    expect(redactSecrets("nothing to see: on", { flag: Secret.of("on"), empty: Secret.of("") })).toBe(
      "nothing to see: on",
    );
  });

  const value = 'canary "q" <a>&b\\x+/=? ünï 0123456789';
  const base64 = Buffer.from(value).toString("base64");

  it.each([
    ["JSON", JSON.stringify({ value })],
    ["JSON within JSON", JSON.stringify(JSON.stringify({ value }))],
    ["a form", new URLSearchParams({ value }).toString()],
    ["a URL within a URL", encodeURIComponent(encodeURIComponent(value))],
    ["a form within a URL", encodeURIComponent(new URLSearchParams({ value }).toString())],
    ["a URL within a form", new URLSearchParams({ url: encodeURIComponent(value) }).toString()],
    ["base64url", Buffer.from(value).toString("base64url")],
    ["base64 of something larger", Buffer.from(`x: ${value}, y: 1`).toString("base64")],
    ["hexadecimal", Buffer.from(value).toString("hex")],
    ["a long start", `got ${value.slice(0, 20)} and more`],
    ["a long end", `and less ${value.slice(-20)}!`],
    ["a start that is cut off", `got ${value.slice(0, 10)}...`],
    ["a start at the end", `got ${value.slice(0, 9)}`],
    ["an end that is cut off", `…${value.slice(-9)} was rejected`],
    ["a start that is masked", `got ${value.slice(0, 9)}*****`],
    ["the start of its base64", `got ${base64.slice(0, 24)} in full`],
    ["the end of its base64", `…${base64.slice(-12)}`],
  ])("takes out a value in %s", (_, text) => {
    const clean = redactSecrets(text, { key: Secret.of(value) });
    expect(clean).toContain("[redacted]");
    for (let at = 0; at + 9 <= value.length; at++) expect(clean).not.toContain(value.slice(at, at + 9));
    for (let at = 0; at + 12 <= base64.length; at++) expect(clean).not.toContain(base64.slice(at, at + 12));
  });

  it("takes out user data that was cut off in a line, with the rest of that line", () => {
    const userData = "#cloud-config\nusers:\n- name: admin\n  passwd: $6$canary/canary/canary\n";
    const cut = userData.slice(0, userData.indexOf("canary/") + 7);
    expect(redactSecrets(`invalid: ${cut}`, { userData: Secret.of(userData) })).toBe("invalid: [redacted]");
  });

  it("takes out the key within the JSON of a service account, but no name in it", () => {
    const account = Secret.of(
      JSON.stringify({ private_key: "-----BEGIN\ncanary\n-----END", client_email: "me@x.example" }),
    );
    expect(redactSecrets("me@x.example: -----BEGIN\ncanary\n-----END was rejected", { account })).toBe(
      "me@x.example: [redacted] was rejected",
    );
  });

  it("takes out a short value as a word only", () => {
    expect(
      redactSecrets("Pass1 is not in Pass12, nor true in true", { a: Secret.of("pass1"), b: Secret.of("true") }),
    ).toBe("[redacted] is not in Pass12, nor true in true");
  });

  it("leaves texts alone that share a few characters with a value", () => {
    const secrets = { key: Secret.of("kubernetes-admin-password-1") };
    expect(redactSecrets("the kubernetes cluster has no password-2", secrets)).toBe(
      "the kubernetes cluster has no password-2",
    );
  });

  it("replaces what a terminal interprets, and keeps lines, tabs and letters of all languages", () => {
    const text = "\u001b[31mred\u001b[0m \u0007\u009b \u202eabc\u2066\u200f \u2028 \ud800 größe\t機\n🙂";
    expect(redactSecrets(text, {})).toBe(
      "\uFFFD[31mred\uFFFD[0m \uFFFD\uFFFD \uFFFDabc\uFFFD\uFFFD \uFFFD \uFFFD größe\t機\n🙂",
    );
  });

  it("takes out every line of user data that is long enough, in each encoding, wherever it is", () => {
    const lines = ["aaaa-bbbb-cccc-dddd", 'print "hello" & <goodbye>', "größe: ünïcödé ✓ ✓ ✓ ✓"];
    const userData = Secret.of(`${"x: 1\n".repeat(100)}${lines.join("\n")}\n${"y: 2\n".repeat(100)}`);
    for (const line of lines)
      for (const form of [
        line,
        JSON.stringify(line),
        encodeURIComponent(line),
        encodeURIComponent(encodeURIComponent(line)),
        Buffer.from(line).toString("base64"),
      ])
        expect(redactSecrets(`got ${form}!`, { userData })).toMatch(/^got "?\[redacted\]"?!$/);
  });

  it("recognizes starts and ends of values of every length and alphabet", () => {
    const text = fc.string({
      minLength: 16,
      maxLength: 300,
      unit: fc.constantFrom("a", "Z", "7", "/", '"', " ", "ü", "✓", "🙂", "\n"),
    });
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(value.trim().length >= 12);
        for (const form of encodedForms(Buffer.from(value)))
          expect(redactSecrets(`got ${form}!`, { value: Secret.of(value) })).toContain("[redacted]");
      }),
    );
  });
});
