import { isMachineError, Secret } from "@millwright/core";
import { describe, expect, it, test } from "vitest";
import { userDataFor } from "./user-data.ts";

const made = (template: string) => userDataFor("m a", Secret.of(template)).reveal();

describe("userDataFor", () => {
  test.each([
    ["no placeholder", "plain", "plain"],
    ["nothing", "", ""],
    ["the machine's name", "a <<MACHINE_NAME>> b <<MACHINE_NAME>>", "a m a b m a"],
    ["the name in a URL", "x?n=%3C%3CMACHINE_NAME%3E%3E", "x?n=m%20a"],
    [
      "both forms: only the plain one counts",
      "<<MACHINE_NAME>> %3C%3CMACHINE_NAME%3E%3E",
      "m a %3C%3CMACHINE_NAME%3E%3E",
    ],
    ["patterns of replacement in the text", "$& <<MACHINE_NAME>> $1", "$& m a $1"],
  ])("with %s", (_, template, expected) => {
    expect(made(template)).toBe(expected);
  });

  it("does not interpret the name", () => {
    expect(userDataFor("$&", Secret.of("<<MACHINE_NAME>>")).reveal()).toBe("$&");
  });

  it("passes binary data byte for byte", () => {
    const bytes = Uint8Array.from([0x1f, 0x8b, 0xff, 0xfe, 0x00]);
    expect(userDataFor("m", Secret.of(bytes)).revealBytes()).toEqual(bytes);
  });

  it.each(["<<BOOTSTRAP_TOKEN>>", "%3C%3CBOOTSTRAP_TOKEN%3E%3E"])(
    "refuses %s, and shows nothing else of it",
    (text) => {
      let thrown: unknown;
      try {
        made(`secret ${text}`);
      } catch (error) {
        thrown = error;
      }
      expect(isMachineError(thrown)).toBe(true);
      expect(thrown).toMatchObject({
        code: "InvalidArgument",
        message: 'key "userData" contains <<BOOTSTRAP_TOKEN>>, which this version does not replace yet',
      });
    },
  );
});
