import type { CheckOutcome } from "@millwright/core";
import { expect, it } from "vitest";
import { renderDiagnosis } from "./render-diagnosis.ts";

const check = (name: string, status: CheckOutcome["status"], message: string, remedy?: string): CheckOutcome => ({
  name,
  status,
  message,
  ...(remedy === undefined ? {} : { remedy }),
});
const render = (...checks: readonly CheckOutcome[]): string =>
  renderDiagnosis({ namespace: "shop", outcome: "ok", subjects: [{ subject: "MachineClass small", checks }] });

it("prints a line for each check with its remedy, and counts what is not ok", () => {
  expect(
    render(
      check("Credentials", "ok", "They work."),
      check("Image", "failed", "There is none.", "Name another one."),
      check("Quota", "warning", "Little is left."),
      check("Type", "warning", "It is old."),
      check("Launch", "skipped", "Not checked."),
    ),
  ).toBe(`MachineClass small:
  ok       Credentials: They work.
  FAILED   Image: There is none.
           -> Name another one.
  warning  Quota: Little is left.
  warning  Type: It is old.
  skipped  Launch: Not checked.
Namespace shop: 5 checks: 1 failed, 2 warnings, 1 skipped.
`);
  expect(render(check("Image", "ok", "Fine."))).toMatch(/\nNamespace shop: 1 check: all ok\.\n$/);
});

it("fits on 80 columns, but for words that are longer", () => {
  const text = render(check("Image", "failed", "word ".repeat(60), `see ${"x".repeat(100)} and ${"word ".repeat(30)}`));
  const long = text.split("\n").filter((line) => line.length > 80);
  expect(long).toEqual([`           ${"x".repeat(100)}`]);
});

it("prints nothing that a terminal would take for a command", () => {
  expect(render(check("a\u001b[2J", "failed", "b\u001b[2J", "c\u001b[2J"))).not.toContain("\u001b");
});
