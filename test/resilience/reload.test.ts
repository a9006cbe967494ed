import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import type { SimulatedCloudOptions } from "@millwright/provider-mock";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";

/** The configuration as a mounted ConfigMap: its files are behind a symbolic link that the kubelet swaps. */
describe("millwright run --config", () => {
  let fleet: ControlledFleet;
  let folder: string;
  let version = 0;
  const file = (): string => join(folder, "config.yaml");
  const configure = async (text: string): Promise<void> => {
    const name = `..version-${++version}`;
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, "config.yaml"), text);
    await symlink(name, join(folder, "..tmp"));
    await rename(join(folder, "..tmp"), join(folder, "..data"));
  };
  const start = async (cloud: Partial<SimulatedCloudOptions> = {}): Promise<void> => {
    fleet = await startControlledFleet(cloud);
    folder = join(dirname(fleet.kubeconfig), "configuration");
    await mkdir(folder);
    await symlink(join("..data", "config.yaml"), file());
  };
  afterEach(() => fleet.close());

  it("reloads timeouts while it runs, keeps the former file when the new one is invalid, and names what needs a restart", async () => {
    await start({ bootDelayMs: 3_600_000 });
    await configure("machine-creation-timeout: 1h\nlog-level: info\n");
    const controllers = fleet.run(`--config=${file()}`);
    await fleet.deploy(1);
    await eventually(async () => expect((await fleet.machines()).map(phaseOf)).toEqual(["Pending"]), 60_000);
    const [first] = await fleet.machines();

    await configure("machine-creation-timeout: soon\n");
    await controllers.waitFor(
      /"level":"error".*config.yaml: machine-creation-timeout: expected a duration.*not reloaded/,
      60_000,
    );
    await configure("machine-creation-timeout: 1s\nlog-level: debug\nconcurrent-syncs: 3\n");
    await controllers.waitFor(/"concurrent-syncs: 10 -> 3".*needs a restart/, 60_000);
    await controllers.waitFor(
      /"log-level: info -> debug","machine-creation-timeout: 1h -> 1s".*Configuration is reloaded/,
      60_000,
    );
    // Its Node never joins: it is replaced after a second instead of an hour.
    await eventually(async () => {
      expect((await fleet.machines()).map(({ metadata }) => metadata.name)).not.toContain(first?.metadata.name);
    }, 120_000);
    await controllers.waitFor(/"level":"debug"/, 60_000);

    controllers.child.kill("SIGHUP");
    await controllers.waitFor(/"changes":\[\].*Configuration is reloaded/, 60_000);
    expect(controllers.child.exitCode).toBeNull();
    expect(await controllers.stop("SIGTERM")).toBe(0);
  });

  it("reloads limits of creations and of deletions, which what waits follows", async () => {
    const flags = (perClass: number, share: string): string =>
      `concurrent-machine-creations-per-class: ${perClass}\nmachine-safety-max-deletion-share: ${share}\n`;
    await start();
    await configure(flags(1, "50%"));
    const controllers = fleet.run(`--config=${file()}`);
    // Creations hang until their call times out: one after another they would need minutes.
    await fleet.cloud.addFault({ operation: "create", delayMs: 3_600_000, times: 1e6 });
    await fleet.deploy(21);
    await eventually(async () => expect(await fleet.machines()).toHaveLength(21), 60_000);
    await eventually(async () => expect(fleet.callsOf("create")).toBe(1), 60_000);
    await configure(flags(12, "50%"));
    await controllers.waitFor(/"concurrent-machine-creations-per-class: 1 -> 12".*Configuration is reloaded/, 60_000);
    await eventually(async () => expect(fleet.callsOf("create")).toBeGreaterThanOrEqual(12), 60_000);
    await fleet.cloud.clearFaults();
    const running = async (): Promise<number> =>
      (await fleet.machines()).filter((machine) => phaseOf(machine) === "Running").length;
    await eventually(async () => expect(await running()).toBe(21), 120_000);

    await fleet.api.delete(machineDeploymentResource, { namespace: "default", name: "fleet" });
    const held = async (): Promise<number> =>
      (await fleet.machines()).filter(({ status }) =>
        /held for approval/.test(status?.lastOperation?.description ?? ""),
      ).length;
    await eventually(async () => expect(await held()).toBe(21), 60_000);
    await configure(flags(12, "100%"));
    await eventually(async () => expect(await running()).toBe(0), 60_000);
    await eventually(async () => expect(fleet.cloud.vms()).toEqual([]), 60_000);
  });
});
