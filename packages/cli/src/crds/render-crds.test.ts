import { expect, it } from "vitest";
import { renderCrds } from "./render-crds.ts";

const paths = Array.from({ length: 12 }, (_, index) => `spec.a[${index}]`);
const reports = [
  { name: "a", state: "same", paths: [] },
  { name: "b", state: "missing", paths: [] },
  { name: "c", state: "different", paths },
  { name: "d", state: "terminating", paths: [] },
] as const;

it("has a line for each CRD, and names up to ten fields", () => {
  const shown = paths.slice(0, 10).map((path) => `  ${path}\n`);
  expect(renderCrds("diff", reports)).toBe(
    `a same\nb missing\nc different\n${shown.join("")}  and 2 more\nd is being deleted\n`,
  );
  expect(renderCrds("apply", reports)).toMatch(/^a unchanged\nb created\nc updated\n(.*\n)*d is being deleted\n$/);
});
