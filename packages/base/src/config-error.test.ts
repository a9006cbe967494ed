import { describe, expect, it } from "vitest";
import { ConfigError, isConfigError } from "./config-error.ts";

describe("ConfigError", () => {
  it("is recognized by its brand, with its cause", () => {
    const cause = new Error("ENOENT");
    const error = new ConfigError("file missing", { cause });
    expect(isConfigError(error)).toBe(true);
    expect(error).toMatchObject({ name: "ConfigError", message: "file missing", cause });
  });

  it("is recognized when another copy of the package made it", () => {
    const foreign = Object.defineProperty(new Error("x"), Symbol.for("millwright.dev/ConfigError"), { value: true });
    expect(isConfigError(foreign)).toBe(true);
  });

  it.each([new Error("ConfigError"), { name: "ConfigError", message: "x" }, null, undefined, "ConfigError"])(
    "is not confused with %s",
    (value) => {
      expect(isConfigError(value)).toBe(false);
    },
  );
});
