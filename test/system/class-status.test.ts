import { annotationKeys, machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { eventResource, secretResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

const namespace = "default";
const LONG = 90_000;

/** A class as people write it, with three mistakes that MCM's driver ignores. */
const misspelt = {
  ...machineClass("spot"),
  provider: "AWS",
  secretRef: { name: "aws", namespace },
  providerSpec: {
    ami: "ami-1",
    region: "eu-west-1",
    machineType: "m5.large",
    spotPrce: "0.1",
    fallbaks: [{ machineType: "m5a.large" }],
    fallbacks: [{ machineType: "m5a.large", zone: "eu-west-1b" }],
    blockDevices: [{ ebs: { volumeSize: 50, volumeType: "gp3" } }],
    iam: { name: "nodes" },
    networkInterfaces: [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"] }],
    tags: { "kubernetes.io/cluster/test": "1", "kubernetes.io/role/node": "1" },
  },
};

describe("what a class shows of itself", () => {
  let installation: Installation;
  let kubectl: ForeignTool;
  beforeEach(async () => {
    installation = await startInstallation({ maxVms: 1 }, { requestLogLimit: 100_000 });
    kubectl = await createKubectl(installation.kubeconfig);
  });
  afterEach(() => installation.close());

  const millwright = async (...args: readonly string[]): Promise<string> => {
    const command = startMillwright([...args, "--kubeconfig", installation.kubeconfig], {
      NO_COLOR: "1",
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_ENDPOINT_URL: "http://127.0.0.1:9",
    });
    await command.ended;
    return command.output().replaceAll(/[\s│]+/g, " ");
  };

  it("are keys that its driver ignores, with those that were meant, in kubectl, describe, why and doctor", async () => {
    const { api } = installation;
    const data = { accessKeyID: btoa("a"), secretAccessKey: btoa("b"), userData: btoa("boot") };
    await api.create(secretResource, { metadata: { name: "aws", namespace }, data });
    await api.create(machineClassResource, misspelt);
    installation.runAlone("--provider=aws");
    const known = 'providerSpec.spotPrce (did you mean "spotPrice"?)';
    const keys = [known, 'providerSpec.fallbaks (did you mean "fallbacks"?)', "providerSpec.fallbacks[0].zone"];
    await eventually(async () => {
      const described = (await kubectl(["describe", "machineclass", "spot"])).replaceAll(/\s+/g, " ");
      for (const key of keys) expect(described).toContain(key);
      expect(described).toMatch(/Warning UnknownKeys .* Driver "AWS" ignores keys/);
    }, LONG);
    for (const args of [
      ["describe", "machineclass", "spot"],
      ["why", "mcc/spot"],
      ["doctor", "spot"],
    ])
      for (const key of keys) expect(await millwright(...args), args.join(" ")).toContain(key);
  });

  it("is whether VMs can be created from it, since when, in a column, written once for all machines", async () => {
    const { api } = installation;
    await api.create(machineClassResource, machineClass("small"));
    await api.create(machineClassResource, { ...machineClass("wrong"), providerSpec: { machineTyp: "small" } });
    installation.runAlone();
    const rows = async (): Promise<string> =>
      (await kubectl(["get", "machineclasses", "--no-headers"])).replaceAll(/ +/g, " ");
    await eventually(async () => {
      expect(await rows()).toMatch(/^small mock .* Ready$/m);
      expect(await rows()).toMatch(/^wrong mock .* InvalidMachineClass$/m);
    }, LONG);
    await api.create(machineDeploymentResource, machineDeployment("pool", "small", 8));
    await eventually(async () => expect(await rows()).toMatch(/^small mock .* ResourceExhausted$/m), LONG);
    await eventually(async () => {
      const failing = (await installation.machines()).filter(
        ({ status }) => status?.lastOperation?.errorCode === "ResourceExhausted",
      );
      expect(failing).toHaveLength(7);
    }, LONG);
    expect(await millwright("why", "mcc/small")).toContain("ResourceExhausted: quota of 1 VMs is used up");
    const { metadata } = await api.get(machineClassResource, { name: "small", namespace });
    expect(metadata.annotations?.[annotationKeys.classStatusMessage]).toContain("quota of 1 VMs is used up");
    const writes = installation.server.requests.filter(
      ({ verb, path }) => verb === "patch" && path.endsWith("/machineclasses/small"),
    );
    const statusWrites = writes.length;
    // Of the capacity, the finalizer, and two of the status; how often the capacity is written depends on when VMs fail.
    expect(statusWrites).toBeLessThan(8);
    const events = (await api.list(eventResource, { namespace })).items;
    expect(JSON.stringify(events)).not.toContain("UnknownKeys");
  });
});
