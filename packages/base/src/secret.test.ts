// oxlint-disable typescript/restrict-template-expressions, typescript/no-misused-spread -- the slips that must not print
import { Console } from "node:console";
import { Writable } from "node:stream";
import { format, inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { Secret, isSecret } from "./secret.ts";

const value = "hunter2-canary";
const secret = Secret.of(value);

const printed = (print: (to: Console) => void): string => {
  let text = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  print(new Console({ stdout: sink, stderr: sink }));
  return text;
};

describe("Secret", () => {
  it.each<[string, () => string]>([
    ["a template string", () => `${secret}`],
    ["concatenation", () => "value: " + String(secret)],
    ["JSON.stringify", () => JSON.stringify({ secret, nested: [secret] })],
    ["util.inspect", () => inspect({ secret }, { depth: null, showHidden: true, customInspect: true })],
    ["util.inspect without custom inspection", () => inspect(secret, { customInspect: false, showHidden: true })],
    ["util.format", () => format("%s %o %O %j", secret, secret, secret, secret)],
    ["console.log", () => printed((to) => to.log("a", secret, { secret }))],
    ["console.table", () => printed((to) => to.table([{ secret }]))],
    ["console.dir", () => printed((to) => to.dir(secret, { showHidden: true }))],
    ["an error with the secret as its cause", () => inspect(new Error("failed", { cause: { secret } }))],
    ["an error message", () => new Error(`wrong: ${secret}`).message],
    ["Object.entries", () => JSON.stringify(Object.entries(secret))],
    ["spread", () => JSON.stringify({ ...secret })],
    ["property names", () => Reflect.ownKeys(secret).map(String).join()],
    ["a locale string", () => secret.toLocaleString()],
    ["URLSearchParams", () => new URLSearchParams({ secret: String(secret) }).toString()],
    ["a structured clone", () => inspect(structuredClone({ secret }), { showHidden: true })],
  ])("does not print its value in %s", (_how, print) => {
    expect(print()).not.toContain(value);
    expect(print()).not.toContain(Buffer.from(value).toString("base64"));
  });

  it("marks what was left out", () => {
    expect(JSON.stringify({ secret })).toBe('{"secret":"[redacted]"}');
    expect(inspect({ secret })).toBe("{ secret: [redacted] }");
    expect(`${secret}`).toBe("[redacted]");
  });

  it("clones to an empty object", () => {
    expect(Reflect.ownKeys(structuredClone({ secret }).secret)).toEqual([]);
  });

  it("reveals text and bytes exactly", () => {
    const bytes = Uint8Array.of(0, 13, 10, 255, 254, 0);
    expect(Secret.of(bytes).revealBytes()).toEqual(bytes);
    expect(Secret.of("\uFEFFä\r\n🙂").reveal()).toBe("\uFEFFä\r\n🙂");
    expect(Secret.of("").revealBytes()).toHaveLength(0);
  });

  it("keeps its value when the bytes given or taken are changed", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const kept = Secret.of(bytes);
    bytes.fill(0);
    kept.revealBytes().fill(9);
    expect(kept.revealBytes()).toEqual(Uint8Array.of(1, 2, 3));
  });

  it("compares by value", () => {
    expect(secret.equals(Secret.of(value))).toBe(true);
    expect(secret.equals(Secret.of(`${value}x`))).toBe(false);
    expect(Secret.of(`${value}x`).equals(secret)).toBe(false);
    expect(secret.equals(Secret.of(value.toUpperCase()))).toBe(false);
    expect(Secret.of("").equals(Secret.of("\0"))).toBe(false);
  });

  it("is recognized by its brand and not by its shape", () => {
    expect(isSecret(secret)).toBe(true);
    for (const other of [undefined, null, value, {}, { reveal: () => value }]) expect(isSecret(other)).toBe(false);
  });
});
