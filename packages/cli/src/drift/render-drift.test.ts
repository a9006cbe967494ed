import type { MachineDrift } from "@millwright/runtime";
import { expect, it } from "vitest";
import { renderDrift } from "./render-drift.ts";

const drift = (machine: string, more: Partial<MachineDrift> = {}): MachineDrift => ({
  machine,
  machineClass: "small",
  providerId: `aws:///r/${machine}`,
  outcome: "same",
  differences: [],
  ...more,
});
const render = (...machines: readonly MachineDrift[]) => renderDrift({ namespace: "n", outcome: "same", machines });

it("prints differences field by field, then what could not be compared, then what was skipped", () => {
  expect(
    render(
      drift("a"),
      drift("b", {
        outcome: "drifted",
        differences: [
          { field: "machineType", wanted: "m5.large", found: "m5.xlarge" },
          { field: "tags.a", wanted: "x y", found: "" },
        ],
      }),
      drift("c", { outcome: "skipped", providerId: "", because: "has no VM yet" }),
      drift("d", { outcome: "failed", machineClass: "", because: "NotFound: no VM" }),
    ),
  ).toBe(`b (class small, aws:///r/b):
  FIELD        CLASS       VM
  machineType  "m5.large"  "m5.xlarge"
  tags.a       "x y"       -
d (aws:///r/d) could not be compared:
  NotFound: no VM
c (class small) was skipped:
  has no VM yet
1 of 4 machines drifted, 1 failed, 1 skipped.
`);
});

it("reports in one line that all is well, or that there are no machines", () => {
  expect(render(drift("a"))).toBe("0 of 1 machine drifted.\n");
  expect(render()).toBe("There are no machines.\n");
});

it("prints nothing that a terminal would take for a command", () => {
  const escape = "\u001b[2J";
  const hostile = [{ field: `f${escape}`, wanted: `w${escape}`, found: `v${escape}` }];
  const text = render(
    drift(`a${escape}`, { outcome: "drifted", differences: hostile }),
    drift("b", { outcome: "failed", because: `no${escape}` }),
  );
  expect(text).not.toContain("\u001b");
});
