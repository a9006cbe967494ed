import { Secret } from "@millwright/base";
import { describe, expect, it, test } from "vitest";
import { asksForToken, userDataFor } from "./user-data.ts";

const token = Secret.of("abc123.0123456789abcdef");
const made = (template: string, withToken = true) =>
  userDataFor("m a", Secret.of(template), withToken ? token : undefined).reveal();

describe("userDataFor", () => {
  test.each([
    ["no placeholder", "plain", "plain"],
    ["nothing", "", ""],
    ["the machine's name", "a <<MACHINE_NAME>> b <<MACHINE_NAME>>", "a m a b m a"],
    ["the name in a URL", "x?n=%3C%3CMACHINE_NAME%3E%3E", "x?n=m+a"],
    [
      "both forms: only the plain one counts",
      "<<MACHINE_NAME>> %3C%3CMACHINE_NAME%3E%3E",
      "m a %3C%3CMACHINE_NAME%3E%3E",
    ],
    ["patterns of replacement in the text", "$& <<MACHINE_NAME>> $1", "$& m a $1"],
  ])("with %s", (_, template, expected) => {
    expect(made(template)).toBe(expected);
  });

  test.each([
    ["the token", "--token=<<BOOTSTRAP_TOKEN>>", "--token=abc123.0123456789abcdef"],
    ["the token in a URL", "x?t=%3C%3CBOOTSTRAP_TOKEN%3E%3E", "x?t=abc123.0123456789abcdef"],
    ["both placeholders", "<<MACHINE_NAME>> <<BOOTSTRAP_TOKEN>>", "m a abc123.0123456789abcdef"],
  ])("with %s", (_, template, expected) => {
    expect(made(template)).toBe(expected);
  });

  it("leaves the placeholder of the token alone where there is no cluster to join", () => {
    expect(made("<<BOOTSTRAP_TOKEN>> <<MACHINE_NAME>>", false)).toBe("<<BOOTSTRAP_TOKEN>> m a");
  });

  it("knows user data that asks for a token", () => {
    const asks = (text: string) => asksForToken(Secret.of(text));
    expect([asks("x"), asks("<<BOOTSTRAP_TOKEN>>"), asks("%3C%3CBOOTSTRAP_TOKEN%3E%3E")]).toEqual([false, true, true]);
  });

  it("does not interpret the name", () => {
    expect(userDataFor("$&", Secret.of("<<MACHINE_NAME>>"), undefined).reveal()).toBe("$&");
  });

  it("passes binary data byte for byte", () => {
    const bytes = Uint8Array.from([0x1f, 0x8b, 0xff, 0xfe, 0x00]);
    expect(userDataFor("m", Secret.of(bytes), token).revealBytes()).toEqual(bytes);
  });
});
