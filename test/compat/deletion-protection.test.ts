import type { ResourceType } from "@millwright/base";
import {
  annotationKeys,
  deletionProtectionPolicy,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { isForbidden } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

/** Only catches hangs: a busy kube-controller-manager finds new CRDs late, and deletes dependents only then. */
const LONG = 300_000;
const namespace = "default";
const key = annotationKeys.deletionProtection;
const admission = (kind: string, plural: string): ResourceType => ({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind,
  plural,
  namespaced: false,
});
const resources = {
  ValidatingAdmissionPolicy: admission("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
  ValidatingAdmissionPolicyBinding: admission("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
};

/** A real garbage collector deletes dependents, and a real admission chain evaluates the policy. */
describe("deletion protection on a real kube-apiserver", () => {
  let fleet: RealFleet;

  beforeAll(async () => {
    fleet = await startRealFleet();
    await fleet.api.create(machineClassResource, machineClass("small"));
    fleet.runAlone();
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await eventually(async () => {
      const phases = (await fleet.machines()).map(phaseOf);
      if (phases.join(" ") !== "Running Running") throw new Error(`machines are ${phases.join(", ")}`);
    }, LONG);
  }, REAL_FLEET_MS);

  afterAll(() => fleet.close(), 60_000);

  const protect = async (type: ResourceType, name: string, value: "true" | "True" | null): Promise<void> => {
    const patch = { metadata: { annotations: { [key]: value } } };
    await fleet.api.patch(type, { namespace, name }, patch, { kind: "merge" });
  };
  const deletes = (): number => fleet.cloud.calls.filter(({ operation }) => operation === "delete").length;
  const errorOf = (deletion: Promise<unknown>): Promise<unknown> =>
    deletion.then(
      () => "deleted",
      (error: unknown) => error,
    );

  it(
    "is refused with a sentence where the policy is applied",
    async () => {
      for (const object of deletionProtectionPolicy()) await fleet.api.create(resources[object.kind], { ...object });
      const [name = ""] = (await fleet.machines()).map(({ metadata }) => metadata.name);
      await protect(machineResource, name, "true");
      await protect(machineDeploymentResource, "fleet", "True");
      for (const [type, ref] of [
        [machineResource, { namespace, name }],
        [machineDeploymentResource, { namespace, name: "fleet" }],
      ] as const) {
        // A policy takes a moment until it is enforced; a dry run deletes nothing meanwhile.
        await eventually(async () => {
          const error = await errorOf(fleet.api.delete(type, ref, { dryRun: true }));
          expect(isForbidden(error), String(error)).toBe(true);
          expect(String(error)).toContain(
            `${type.kind} ${ref.name} is protected from deletion. To delete it, first remove its annotation ${key}`,
          );
        }, LONG);
        expect(isForbidden(await errorOf(fleet.api.delete(type, ref)))).toBe(true);
      }
      expect((await fleet.machines()).map(({ metadata }) => metadata.deletionTimestamp)).toEqual([
        undefined,
        undefined,
      ]);
      await protect(machineResource, name, null);
      expect(await errorOf(fleet.api.delete(machineResource, { namespace, name }, { dryRun: true }))).toBe("deleted");
      for (const { kind, metadata } of deletionProtectionPolicy()) await fleet.api.delete(resources[kind], metadata);
    },
    2 * LONG,
  );

  it(
    "holds all machines of a protected deployment that is deleted in the foreground without the policy",
    async () => {
      const ref = { namespace, name: "fleet" };
      await eventually(() => fleet.api.delete(machineDeploymentResource, ref, { propagation: "Foreground" }), LONG);
      await eventually(async () => {
        const texts = (await fleet.machines()).map(({ status }) => status?.lastOperation?.description);
        const held = expect.stringMatching(/^Deletion paused: MachineDeployment fleet is protected/);
        expect(texts).toEqual([held, held]);
      }, LONG);
      expect(deletes()).toBe(0);
      expect(fleet.cloud.vms()).toHaveLength(2);
      await protect(machineDeploymentResource, "fleet", null);
      await eventually(async () => {
        expect(fleet.cloud.vms()).toEqual([]);
        expect((await fleet.api.list(machineDeploymentResource, { namespace })).items).toEqual([]);
      }, LONG);
    },
    3 * LONG,
  );
});
