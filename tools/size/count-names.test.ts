import { expect, it } from "vitest";
import { countContractNames, exportedNames } from "./count-names.ts";

it("exported names are counted one by one, types too", () => {
  expect(exportedNames('export { a, type B } from "./a.ts";\nexport type {\n  C,\n} from "./c.ts";\n')).toEqual([
    "a",
    "type B",
    "C",
  ]);
  expect(() => exportedNames('export * from "./a.ts";')).toThrow("not listed");
});

it("the author of a driver reads the names of the contract in one sitting", () => {
  expect(countContractNames()).toBeGreaterThan(40);
  expect(countContractNames()).toBeLessThanOrEqual(60);
});
