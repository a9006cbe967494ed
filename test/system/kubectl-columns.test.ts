import {
  annotationKeys,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { eventResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";

const namespace = "default";

/** What a person sees who has only kubectl. */
describe("kubectl get", { timeout: 300_000 }, () => {
  let fleet: ControlledFleet;
  let kubectl: ForeignTool;

  beforeAll(async () => {
    fleet = await startControlledFleet();
    kubectl = await createKubectl(fleet.kubeconfig);
    await fleet.api.create(machineClassResource, machineClass("next"));
    fleet.runAlone();
  });
  afterAll(() => fleet.close());

  const deploy = async (name: string, replicas: number, annotations: Record<string, string> = {}): Promise<void> => {
    const made = machineDeployment(name, "small", replicas);
    await fleet.api.create(machineDeploymentResource, { ...made, metadata: { ...made.metadata, annotations } });
  };
  const patch = (name: string, change: object): Promise<unknown> =>
    fleet.api.patch(machineDeploymentResource, { namespace, name }, change, { kind: "merge" });
  /** The columns of one object by their headers. */
  const columns = async (kind: string, name: string): Promise<Readonly<Record<string, string>>> => {
    const [header = "", row = ""] = (await kubectl(["get", kind, name, "-o", "wide"])).split("\n");
    const starts = [...header.matchAll(/\S+/g)].map(({ 0: title, index }) => ({ title, index }));
    return Object.fromEntries(
      starts.map(({ title, index }, at) => [title, row.slice(index, starts[at + 1]?.index).trim()]),
    );
  };
  const expectColumns = (kind: string, name: string, expected: Readonly<Record<string, unknown>>): Promise<unknown> =>
    eventually(async () => expect(await columns(kind, name)).toMatchObject(expected), 90_000);
  const setOf = async (name: string): Promise<string> => {
    const names = (await kubectl(["get", "machinesets", "-o", "name"])).split("\n");
    return names.find((each) => each.includes(`/${name}-`))?.split("/")[1] ?? "";
  };

  it("names an invalid spec, and shows so of a deployment that is as desired", async () => {
    const annotations = { [annotationKeys.maintenanceWindows]: "x" };
    await deploy("invalid", 1, annotations);
    await expectColumns("mcd", "invalid", {
      REASON: "InvalidSpec",
      MESSAGE: expect.stringMatching(/^metadata.annotations.*`x` is not a window/),
    });
    await deploy("settled", 1);
    await expectColumns("mcd", "settled", { READY: "1", REASON: "Ready", MESSAGE: "" });
    await expectColumns("mcs", await setOf("settled"), { READY: "1", REASON: "Ready" });
    await patch("settled", { spec: { paused: true } });
    await expectColumns("mcd", "settled", { REASON: "Paused" });
  });

  it("names a pause and a closed window that a rollout waits for", async () => {
    await deploy("pool", 1);
    await expectColumns("mcd", "pool", { REASON: "Ready" });
    const template = { spec: { class: { name: "next" } } };
    await patch("pool", { spec: { paused: true, template } });
    await expectColumns("mcd", "pool", { READY: "1", "UP-TO-DATE": "0", REASON: "Paused" });
    const annotations = { [annotationKeys.maintenanceWindows]: "0 0 29 2 * 1h" };
    await patch("pool", { metadata: { annotations }, spec: { paused: null } });
    await expectColumns("mcd", "pool", {
      REASON: "WindowClosed",
      MESSAGE: expect.stringMatching(/^Rollout waits for the maintenance window that opens at /),
    });
  });

  it("names why no machine of a deployment is ready", async () => {
    await fleet.cloud.addFault({ operation: "create", code: "ResourceExhausted", times: 1_000 });
    await deploy("broken", 1);
    await expectColumns("mcd", "broken", { READY: "0", REASON: "ResourceExhausted" });
    await expectColumns("mcs", await setOf("broken"), { READY: "0", REASON: "ResourceExhausted" });
    const names = (await fleet.machines()).map(({ metadata }) => metadata.name);
    const machine = names.find((name) => name.startsWith("broken-"));
    expect(await columns("mc", machine ?? "")).toMatchObject({ REASON: "ResourceExhausted" });
    await fleet.cloud.clearFaults();
    await expectColumns("mcd", "broken", { READY: "1", REASON: "Ready" });
  });

  it("names a held scale-down and a held deletion, how to approve them, and counts the machines that serve", async () => {
    await deploy("big", 12);
    await expectColumns("mcd", "big", { READY: "12", REASON: "Ready" });
    await patch("big", { spec: { replicas: 0 } });
    const held = { REASON: "DeletionsHeld", MESSAGE: expect.stringContaining("millwright approve deployment big") };
    await expectColumns("mcd", "big", { READY: "12", ...held });
    await expectColumns("mcs", await setOf("big"), { READY: "12", ...held });
    const stalled = (kind: string, name: string) =>
      kubectl(["wait", "--for=condition=Stalled", `${kind}/${name}`, "--timeout=60s"]);
    await stalled("machinedeployment", "big");

    await kubectl(["delete", "machinedeployment", "big", "--wait=false"]);
    const ofBig = (await fleet.machines())
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith("big-"));
    expect(ofBig).toHaveLength(12);
    for (const name of ofBig) await expectColumns("mc", name, { STATUS: "Running", REASON: "DeletionsHeld" });
    await expectColumns("mcd", "big", { READY: "12", AVAILABLE: "12", ...held });
    await expectColumns("mcs", await setOf("big"), { READY: "12", REASON: "DeletionsHeld" });
    await stalled("machine", ofBig[0] ?? "");
    const { items } = await fleet.api.list(eventResource, { namespace });
    expect(items.filter(({ message }) => String(message).includes("Deleted machine: big-"))).toEqual([]);

    const until = new Date(Date.now() + 600_000).toISOString();
    await patch("big", { metadata: { annotations: { [annotationKeys.approveDeletions]: until } } });
    await eventually(async () => {
      const { items: machines } = await fleet.api.list(machineResource, { namespace });
      expect(machines.filter(({ metadata }) => metadata.name?.startsWith("big-"))).toEqual([]);
    }, 90_000);
  });
});
