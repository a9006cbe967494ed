import { defaultMachineSettings } from "@millwright/controllers";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { managerSettings, type RunFlags } from "../../packages/cli/src/commands/run-settings.ts";
import { createProgram } from "../../packages/cli/src/program.ts";

it("millwright run has the defaults of the controllers", () => {
  const run = createProgram(() => undefined).commands.find((command) => command.name() === "run");
  if (run === undefined) throw new Error("the program has no command run");
  expect(defaultMachineSettings).toMatchObject(managerSettings(run.opts<RunFlags>()).settings);
});

it("the comparison with MCM has the limits of creations", () => {
  const page = readFileSync(new URL("../../docs/project/compatibility/machines.md", import.meta.url), "utf8");
  const { maxConcurrentCreationsPerClass: each, maxConcurrentCreations: all } = defaultMachineSettings;
  expect(page).toContain(`${each} per class, ${all} in all`);
});
