import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { scheduleOf } from "./faults/profiles.ts";
import { keepRegression, readRegression, regressionFolder } from "./regression.ts";
import { simulate } from "./simulate.ts";

it.each(readdirSync(regressionFolder))("what %s found does not happen again", async (file) => {
  const { schedule } = readRegression(join(regressionFolder, file));
  const { violations, timeline } = await simulate(schedule);
  expect(violations, timeline.slice(-200).join("\n")).toEqual([]);
});

it("a schedule that failed is kept in a file of its seed, and is the same when it is read", () => {
  const folder = mkdtempSync(join(tmpdir(), "regressions-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const regression = { violation: "two VMs", schedule: scheduleOf(7, "drains") };
  const file = keepRegression(folder, regression);
  expect(readdirSync(folder)).toEqual(["drains-7.json"]);
  expect(readRegression(file)).toEqual(regression);
});
