import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { eventResource, secretResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

const namespace = "default";
const LONG = 90_000;

/** Machines of one class fail in every call; those of the class `good`, with a Secret of their own, are counted. */
describe("millwright run with a failing class", () => {
  let installation: Installation;
  afterEach(() => installation.close());

  /** Deployments with a class and a Secret of the same name. */
  const declare = async (sizes: Readonly<Record<string, number>>): Promise<void> => {
    const { data } = await installation.api.get(secretResource, { namespace, name: "cloud" });
    for (const [name, replicas] of Object.entries(sizes)) {
      const secret = `secret-${name}`;
      await installation.api.create(secretResource, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: secret, namespace },
        data,
      } as never);
      const secretRef = { name: secret, namespace };
      await installation.api.create(machineClassResource, { ...machineClass(name), secretRef });
      await installation.api.create(machineDeploymentResource, machineDeployment(name, name, replicas));
    }
  };
  const phasesOf = async (name: string): Promise<readonly (string | undefined)[]> =>
    (await installation.machines()).filter(({ metadata }) => metadata.name.startsWith(`${name}-`)).map(phaseOf);
  const untilCreatedAndDeleted = async (name: string, count: number): Promise<void> => {
    await eventually(
      async () => expect(await phasesOf(name)).toEqual(Array.from({ length: count }, () => "Running")),
      LONG,
    );
    await installation.api.delete(machineDeploymentResource, { namespace, name });
    await eventually(async () => expect(await phasesOf(name)).toEqual([]), LONG);
  };
  const callsOf = (operation: string): number =>
    installation.cloud.calls.filter((call) => call.operation === operation).length;

  it("whose credential is refused creates and deletes other machines, and sends few calls for two hundred machines", async () => {
    installation = await startInstallation();
    await installation.cloud.addFault({ operation: "create", code: "Unauthenticated", match: "bad-", times: 1e6 });
    await declare({ bad: 200, good: 10 });
    installation.runAlone();
    await untilCreatedAndDeleted("good", 10);
    // On a busy computer five calls may have failed before another one begins: then the others wait for their class, and not for the credential.
    await eventually(async () => {
      const waiting = (await installation.machines()).filter(({ status }) =>
        /Waiting: Secret "secret-bad" of driver "mock" is refused|Waiting for another machine of class bad to be created first/.test(
          status?.lastOperation?.description ?? "",
        ),
      );
      expect(waiting.length).toBeGreaterThan(150);
    }, LONG);
    // Twenty begin together; then one call in each interval.
    expect(callsOf("create") - 10).toBeLessThanOrEqual(40);
    await eventually(async () => {
      const events = (await installation.api.list(eventResource, { namespace })).items as readonly {
        readonly reason?: string;
        readonly involvedObject?: { readonly name?: string };
      }[];
      const refused = events.filter(({ reason }) => reason === "CredentialRefused" || reason === "CloudUnavailable");
      expect(refused.map(({ involvedObject }) => involvedObject?.name)).toEqual(["bad"]);
    }, LONG);
  });

  it("whose calls hang, in more classes than may create machines at once, creates and deletes other machines", async () => {
    installation = await startInstallation();
    await installation.cloud.addFault({ operation: "create", delayMs: 600_000, match: "bad", times: 1e6 });
    await declare({ bad1: 20, bad2: 20 });
    const process = installation.runAlone("--concurrent-machine-creations=20");
    await eventually(async () => expect(callsOf("create")).toBeGreaterThanOrEqual(20), LONG);
    await declare({ good: 10 });
    await untilCreatedAndDeleted("good", 10);
    expect(process.child.exitCode).toBeNull();
  });
});
