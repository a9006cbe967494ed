import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** As many as the author of a driver reads in one sitting. */
const MAX_NAMES = 60;

it("exports no more names to the author of a driver than are read in one sitting", () => {
  const text = readFileSync(new URL("index.ts", import.meta.url), "utf8");
  expect(text).not.toContain("export *");
  const names = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list.split(",").filter((name) => name.trim() !== ""),
  );
  expect(names.length).toBeGreaterThan(40);
  expect(names.length).toBeLessThanOrEqual(MAX_NAMES);
});
