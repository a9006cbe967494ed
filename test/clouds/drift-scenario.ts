import type { VmDifference } from "@millwright/core";
import {
  annotationKeys,
  type MachineClass,
  machineClassResource,
  type NodeTemplate,
} from "@millwright/core/machine-api";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { CloudInstallation } from "./cloud-installation.ts";

/** A machine type of a cloud, without accelerators. */
export interface DriftType {
  readonly name: string;
  readonly cpu: number;
  /** As a Kubernetes quantity. */
  readonly memory: string;
  readonly architecture: "amd64" | "arm64";
}

/** An emulated cloud and an installation on it, for tests of capacity and drift. */
export interface DriftCloud {
  readonly installation: CloudInstallation;
  /** Flags that select the driver for the emulator. */
  readonly flags: readonly string[];
  /** Region and zone of the machines of the class `pool`, as in node labels. */
  readonly place: { readonly region: string; readonly zone: string };
  /** The type of the class `pool`, one of another architecture, and a larger one. */
  readonly types: { readonly first: DriftType; readonly other: DriftType; readonly larger: DriftType };
  /** Path of the field of `providerSpec` that contains the type. */
  readonly typeField: string;
  /** The part of a `providerSpec` that requests a type. */
  specOf(type: string): Readonly<Record<string, unknown>>;
  /** The number of requests for the capacity of a type. */
  capacityRequests(): number;
  /** Whether one response contains all types, so that the driver caches it. Default false. */
  readonly hasOneList?: boolean;
  vms(): readonly { readonly machine: string; readonly type: string }[];
  /** Changes a label or tag of a VM as a user of the console does; returns the difference. */
  changeMark(machine: string): VmDifference;
  /** Deletes the VM of a machine directly in the cloud. */
  deleteVm(machine: string): void;
  /** Stops everything. Fails with the emulator's own errors. */
  close(): Promise<void>;
}

/** Starts an emulated cloud and an installation with a class `pool`. */
export type StartDriftCloud = () => Promise<DriftCloud>;

const byField = (differences: readonly VmDifference[]): readonly VmDifference[] =>
  differences.toSorted((a, b) => (a.field < b.field ? -1 : 1));

/** The node template of a type for the cluster-autoscaler. */
const templateOf = ({ name, cpu, memory, architecture }: DriftType, { place }: DriftCloud): NodeTemplate => ({
  architecture,
  capacity: { cpu, gpu: 0, memory },
  instanceType: name,
  ...place,
});

/** Capacity of classes and drift of machines, end to end with `millwright` and the driver of a cloud: shared by all clouds. */
export function describeDriftAndCapacity(name: string, startCloud: StartDriftCloud): void {
  // The timeout only catches hangs: processes start slowly on a busy computer.
  describe(`classes and their VMs on ${name}`, { timeout: 600_000 }, () => {
    const start = async (): Promise<DriftCloud> => {
      const cloud = await startCloud();
      onTestFinished(() => cloud.close());
      return cloud;
    };
    const ref = { namespace: "default", name: "pool" };
    const pool = ({ installation }: DriftCloud): Promise<MachineClass> =>
      installation.api.get<MachineClass>(machineClassResource, ref);
    const change = ({ installation }: DriftCloud, patch: object): Promise<unknown> =>
      installation.api.patch(machineClassResource, ref, patch, { kind: "merge" });

    it("writes the node template of a class with one request per version, and keeps a user's values", async () => {
      const cloud = await start();
      const { installation, types, specOf, capacityRequests, hasOneList = false } = cloud;
      const requestsForTwo = hasOneList ? 1 : 2;
      const untilTemplate = (type: DriftType) =>
        eventually(async () => expect((await pool(cloud)).nodeTemplate).toEqual(templateOf(type, cloud)), 120_000);
      installation.run();
      await untilTemplate(types.first);
      expect(capacityRequests()).toBe(1);

      await change(cloud, { providerSpec: specOf(types.other.name) });
      await untilTemplate(types.other);
      expect(capacityRequests()).toBe(requestsForTwo);

      await change(cloud, { nodeTemplate: { capacity: { cpu: 1 } } });
      await eventually(
        async () =>
          expect((await pool(cloud)).metadata.annotations ?? {}).not.toHaveProperty([
            annotationKeys.filledNodeTemplate,
          ]),
        120_000,
      );
      await change(cloud, { providerSpec: specOf(types.larger.name) });
      // A machine of the class has the new type: so the controllers have observed the change.
      await installation.deploy(1);
      await installation.untilRunning(1);
      expect(cloud.vms().map(({ type }) => type)).toEqual([types.larger.name]);
      expect((await pool(cloud)).nodeTemplate?.capacity).toMatchObject({ cpu: 1 });
      expect(capacityRequests()).toBe(requestsForTwo);
    });

    it("shows which VMs differ from their class, by field, and why one cannot be compared", async () => {
      const cloud = await start();
      const { installation, types, typeField } = cloud;
      const drift = (...args: readonly string[]) => installation.command("drift", ...args, ...cloud.flags);
      const controllers = installation.run();
      await installation.deploy(3);
      await installation.untilRunning(3);
      await controllers.stop();
      expect(await drift("--deployment", "fleet")).toEqual({ code: 0, output: "0 of 3 machines drifted.\n" });

      const [changed = "", lost = ""] = cloud.vms().map(({ machine }) => machine);
      const mark = cloud.changeMark(changed);
      await change(cloud, { providerSpec: cloud.specOf(types.larger.name) });
      const { code, output } = await drift("-o", "json");
      expect(code).toBe(3);
      const type = { field: typeField, wanted: types.larger.name, found: types.first.name };
      const { machines }: { machines: readonly { machine: string; differences: readonly VmDifference[] }[] } =
        JSON.parse(output);
      expect(machines).toHaveLength(3);
      for (const { machine, differences } of machines) {
        expect([machine, byField(differences)]).toEqual([
          machine,
          byField(machine === changed ? [type, mark] : [type]),
        ]);
      }

      cloud.deleteVm(lost);
      // A cloud may show the deletion with a delay.
      await eventually(async () => {
        const one = await drift(lost);
        expect(one).toMatchObject({ code: 1, output: expect.stringContaining(`${lost} (class pool`) });
        expect(one.output).toContain("NotFound");
      }, 120_000);
    });
  });
}
