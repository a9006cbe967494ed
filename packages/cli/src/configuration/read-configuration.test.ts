import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { addProviderFlags } from "../driver-flags.ts";
import { addIneffectiveFlags } from "../mcm-flags.ts";
import { addRunFlags } from "../run-flags.ts";
import { addWatchdogFlags } from "../watchdog-flags.ts";
import { renderConfiguration } from "./print-configuration.ts";
import { addConfiguration } from "./read-configuration.ts";

describe("the configuration of millwright run", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "millwright-configuration-"));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  const write = (text: string): string => {
    const file = join(folder, "config.yaml");
    writeFileSync(file, text);
    return file;
  };
  /** Reads a command line; throws what it prints as error. */
  const read = (...args: readonly string[]) => {
    const command = new Command("run").exitOverride();
    const effective = addConfiguration(addProviderFlags(addWatchdogFlags(addRunFlags(command))));
    addIneffectiveFlags(command);
    let errors = "";
    command.configureOutput({ writeErr: (text) => (errors += text) });
    let printed = "";
    command.action(() => {
      printed = renderConfiguration(effective());
    });
    try {
      command.parse([...args], { from: "user" });
    } catch (error) {
      throw new Error(errors, { cause: error });
    }
    return { flags: command.opts(), printed };
  };

  it("takes a flag from the command line, else from the environment, else from the file", () => {
    vi.stubEnv("MILLWRIGHT_MACHINE_HEALTH_TIMEOUT", "2m");
    vi.stubEnv("MILLWRIGHT_MACHINE_DRAIN_TIMEOUT", "2m");
    const all = "machine-drain-timeout: 3m\nmachine-health-timeout: 3m\nmachine-creation-timeout: 3m\n";
    const { flags, printed } = read("--config", write(all), "--machine-drain-timeout=1m");
    expect(flags).toMatchObject({
      machineDrainTimeout: 60_000,
      machineHealthTimeout: 120_000,
      machineCreationTimeout: 180_000,
      concurrentSyncs: 10,
    });
    expect(printed).toContain("machine-drain-timeout: 1m # command line\n");
    expect(printed).toContain("machine-health-timeout: 2m # environment\n");
    expect(printed).toContain("machine-creation-timeout: 3m # file\n");
    expect(printed).toContain('concurrent-syncs: "10" # default\n');
    expect(printed).toContain("# namespace: not set\n");
  });

  it.each([
    ["provider: [mock, aws]", { provider: ["mock", "aws"] }],
    ["provider: mock", { provider: ["mock"] }],
    ["node-conditions: [A, B]", { nodeConditions: ["A", "B"] }],
    ["node-conditions: A,B", { nodeConditions: ["A", "B"] }],
    ["leader-elect: false", { leaderElect: false }],
    ["cluster-api-conditions: false", { clusterApiConditions: false }],
    ["port: 1234", { port: 1234 }],
    ["v: 4", { v: 4 }],
    ["", { port: 0 }],
  ])("reads %j", (text, flags) => {
    expect(read("--config", write(text)).flags).toMatchObject(flags);
  });

  it("keeps a flag of the command line that turns off what the file turns on", () => {
    expect(read("--config", write("cluster-api-conditions: true"), "--no-cluster-api-conditions").flags).toMatchObject({
      clusterApiConditions: false,
    });
  });

  it("replaces the drivers of the file by those of the command line", () => {
    expect(read("--config", write("provider: [mock, aws]"), "--provider=gcp").flags).toMatchObject({
      provider: ["gcp"],
    });
  });

  it("reads lists of the environment, separated by commas", () => {
    vi.stubEnv("MILLWRIGHT_PROVIDER", "mock,aws");
    expect(read().flags).toMatchObject({ provider: ["mock", "aws"] });
  });

  it("prints a file that has the same effect", () => {
    const { flags, printed } = read(
      "--config",
      write("provider: [mock]\nmachine-outage-threshold: 20%\nleader-elect: false\nnode-conditions: [A]\nport: 8080"),
    );
    const { config: _, ...effective } = flags;
    const { config: __, ...again } = read("--config", write(printed)).flags;
    expect(again).toEqual(effective);
  });

  it.each([
    ["machine-health-timeout: soon", /config\.yaml: machine-health-timeout: expected a duration/],
    ["machine-healt-timeout: 3m", /config\.yaml: there is no flag --machine-healt-timeout/],
    ["config: other.yaml", /there is no flag --config/],
    ["- port", /expected a map of flags/],
    ["port: {a: 1}", /config\.yaml: port: expected a text, a number/],
    ["port:", /config\.yaml: port: expected a text, a number/],
    ["cluster-api-conditions: perhaps", /cluster-api-conditions: expected true or false/],
    ["log-level: loud", /log-level: Allowed choices are debug/],
    ["a: [", /^error: --config .*config\.yaml: /],
  ])("rejects %j with file, entry and what is expected", (text, message) => {
    expect(() => read("--config", write(text))).toThrow(message);
  });

  it("names a file that does not exist, and an environment variable that is wrong", () => {
    expect(() => read("--config", join(folder, "none.yaml"))).toThrow(/none\.yaml.*no such file/);
    vi.stubEnv("MILLWRIGHT_PORT", "high");
    expect(() => read()).toThrow(/MILLWRIGHT_PORT: expected a port/);
  });
});
