import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { addRunFlags } from "../run-flags.ts";
import { decideReload } from "./decide-reload.ts";
import type { EffectiveFlag } from "./read-configuration.ts";
import { reloadableFlags } from "./reloadable-flags.ts";

const flag = (name: string, value: EffectiveFlag["value"]): EffectiveFlag => ({ name, value, source: "file" });

describe("a reload of the configuration", () => {
  it("applies what is reloadable, and names what needs a restart until it has the former value again", () => {
    const running = [flag("log-level", "info"), flag("port", "80"), flag("provider", ["mock"])];
    const next = [flag("log-level", "debug"), flag("port", "81"), flag("provider", ["mock"])];
    const first = decideReload(running, next);
    expect(first.applied).toEqual([{ flag: "log-level", from: "info", to: "debug" }]);
    expect(first.needRestart).toEqual([{ flag: "port", from: "80", to: "81" }]);
    const second = decideReload(first.running, next);
    expect(second.applied).toEqual([]);
    expect(second.needRestart).toEqual(first.needRestart);
    expect(decideReload(first.running, running).needRestart).toEqual([]);
  });

  it("knows only flags that exist", () => {
    const names = addRunFlags(new Command("run")).options.map((option) => option.name());
    for (const name of reloadableFlags) expect(names).toContain(name);
  });
});
