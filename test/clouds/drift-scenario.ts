import { type MachineClass, machineClassResource, type NodeTemplate, type VmDifference } from "@millwright/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { CloudInstallation } from "./cloud-installation.ts";

/** A type of machines of a cloud, without accelerators. */
export interface DriftType {
  readonly name: string;
  readonly cpu: number;
  /** As a Kubernetes quantity. */
  readonly memory: string;
  readonly architecture: "amd64" | "arm64";
}

/** An emulated cloud and an installation on it, as far as capacity and drift look at them. */
export interface DriftCloud {
  readonly installation: CloudInstallation;
  /** What commands need to find the driver that talks to the emulator. */
  readonly flags: readonly string[];
  /** Where the machines of the class `pool` are, in the words of nodes. */
  readonly place: { readonly region: string; readonly zone: string };
  /** That of the class `pool`, one of another architecture, and a larger one. */
  readonly types: { readonly first: DriftType; readonly other: DriftType; readonly larger: DriftType };
  /** Field of `providerSpec` that names the type, as differences name it. */
  readonly typeField: string;
  /** The part of a `providerSpec` that asks for a type. */
  specOf(type: string): Readonly<Record<string, unknown>>;
  /** How often the driver has asked what a type has. */
  capacityRequests(): number;
  /** Whether one answer tells of all types, so that the driver remembers it. Default false. */
  readonly hasOneList?: boolean;
  vms(): readonly { readonly machine: string; readonly type: string }[];
  /** Changes a mark of a VM that the class asks for, as somebody with a console does; gives the difference. */
  spoil(machine: string): VmDifference;
  /** Takes the VM of a machine away, behind the back of the controllers. */
  lose(machine: string): void;
  /** Stops everything. What the emulator itself threw fails it. */
  close(): Promise<void>;
}

/** Starts an emulated cloud and an installation with a class `pool`. */
export type StartDriftCloud = () => Promise<DriftCloud>;

const byField = (differences: readonly VmDifference[]): readonly VmDifference[] =>
  differences.toSorted((a, b) => (a.field < b.field ? -1 : 1));

/** What the autoscaler is to be told about a type. */
const templateOf = ({ name, cpu, memory, architecture }: DriftType, { place }: DriftCloud): NodeTemplate => ({
  architecture,
  capacity: { cpu, gpu: 0, memory },
  instanceType: name,
  ...place,
});

/** Capacity of classes and drift of machines, end to end with `millwright` and the driver of a cloud: the same for each of them. */
export function describeDriftAndCapacity(name: string, startCloud: StartDriftCloud): void {
  // Processes that start beside whatever else the computer does: the limit is there for what hangs.
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

    it("tells the autoscaler what a node will have, asks once for each version of a class, and leaves what people write", async () => {
      const cloud = await start();
      const { installation, types, specOf, capacityRequests, hasOneList = false } = cloud;
      const requestsForTwo = hasOneList ? 1 : 2;
      const untilTold = (type: DriftType) =>
        eventually(async () => expect((await pool(cloud)).nodeTemplate).toEqual(templateOf(type, cloud)), 120_000);
      installation.run();
      await untilTold(types.first);
      expect(capacityRequests()).toBe(1);

      await change(cloud, { providerSpec: specOf(types.other.name) });
      await untilTold(types.other);
      expect(capacityRequests()).toBe(requestsForTwo);

      await change(cloud, { nodeTemplate: { capacity: { cpu: 1 } } });
      await eventually(
        async () => expect(Object.keys((await pool(cloud)).metadata.annotations ?? {})).toEqual([]),
        120_000,
      );
      await change(cloud, { providerSpec: specOf(types.larger.name) });
      // A machine of the class is made with the new type: so the controllers have seen the change.
      await installation.deploy(1);
      await installation.untilRunning(1);
      expect(cloud.vms().map(({ type }) => type)).toEqual([types.larger.name]);
      expect((await pool(cloud)).nodeTemplate?.capacity).toMatchObject({ cpu: 1 });
      expect(capacityRequests()).toBe(requestsForTwo);
    });

    it("shows which VMs are not what their class asks for, field by field, and why one cannot be compared", async () => {
      const cloud = await start();
      const { installation, types, typeField } = cloud;
      const drift = (...args: readonly string[]) => installation.command("drift", ...args, ...cloud.flags);
      const controllers = installation.run();
      await installation.deploy(3);
      await installation.untilRunning(3);
      await controllers.stop();
      expect(await drift("--deployment", "fleet")).toEqual({ code: 0, output: "0 of 3 machines drifted.\n" });

      const [spoilt = "", lost = ""] = cloud.vms().map(({ machine }) => machine);
      const mark = cloud.spoil(spoilt);
      await change(cloud, { providerSpec: cloud.specOf(types.larger.name) });
      const { code, output } = await drift("-o", "json");
      expect(code).toBe(2);
      const type = { field: typeField, wanted: types.larger.name, found: types.first.name };
      const { machines }: { machines: readonly { machine: string; differences: readonly VmDifference[] }[] } =
        JSON.parse(output);
      expect(machines).toHaveLength(3);
      for (const { machine, differences } of machines) {
        expect([machine, byField(differences)]).toEqual([machine, byField(machine === spoilt ? [type, mark] : [type])]);
      }

      cloud.lose(lost);
      // A cloud may take a moment until it shows that.
      await eventually(async () => {
        const one = await drift(lost);
        expect(one).toMatchObject({ code: 1, output: expect.stringContaining(`${lost} (class pool`) });
        expect(one.output).toContain("NotFound");
      }, 120_000);
    });
  });
}
