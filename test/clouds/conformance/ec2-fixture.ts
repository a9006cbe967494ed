import { defineFixture, type FixtureFactory } from "@millwright/conformance";
import { createEc2Emulator, type Ec2Emulator, type Instance } from "@millwright/emulators/ec2";
import { refuse } from "@millwright/emulators/server";
import { createAwsDriver, ownerTagKeys } from "@millwright/provider-aws";
import { closeEmulator } from "../close-emulator.ts";
import { ec2MachineId } from "../cloud-controller-manager/aws.ts";
import { ec2Nodes, ec2Spec } from "../ec2-cloud.ts";
import { nodeForms } from "./node-forms.ts";

/** Short waits: the emulator shows everything within milliseconds. */
const pollTimes = { visibleMs: 10_000, lookAgainMs: 100, pollMs: 10 };

const classOf = (change: object = {}) => ({ name: "pool", providerSpec: { ...ec2Spec, ...change } });

const firstKeys = { accessKeyID: "AKIAFIRST012345678", secretAccessKey: "first-secret-0123456789" };
const secondKeys = { accessKeyID: "AKIASECOND01234567", secretAccessKey: "second-secret-0123456789" };

/** Codes of EC2 by status. */
const codes: Readonly<Record<number, string>> = {
  400: "InvalidParameterValue",
  401: "AuthFailure",
  403: "UnauthorizedOperation",
  429: "RequestLimitExceeded",
  503: "Unavailable",
};

/** Errors in the format of EC2. */
export const errorAnswer = (status: number) => ({
  headers: { "content-type": "text/xml;charset=UTF-8" },
  body: `<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>${codes[status] ?? "InternalError"}</Code><Message>staged</Message></Error></Errors><RequestID>1</RequestID></Response>`,
});

const nameOf = ({ tags }: Pick<Instance, "tags">): string => tags.get(ownerTagKeys.name) ?? "";

function stagesOf(ec2: Ec2Emulator) {
  const { world } = ec2;
  const named = (machine: string): Instance => {
    const found = ec2.inventory().instances.find((instance) => nameOf(instance) === machine);
    if (found === undefined) throw new Error(`EC2 has no instance of ${machine}`);
    return world.instances.get(found.id) ?? found;
  };
  /** An instance without volumes and interfaces. */
  const add = (like: Instance, tags: ReadonlyMap<string, string>): Instance => {
    const added: Instance = {
      ...like,
      id: `i-0${world.random.hex(8)}`,
      sequence: world.nextSequence(),
      clientToken: "",
      tags: new Map(tags),
    };
    world.instances.set(added.id, added);
    return added;
  };
  const removing = (...added: readonly Instance[]) => ({
    end: () => {
      for (const { id } of added) world.instances.delete(id);
    },
  });
  /** What a launch shows; taken from the first one. */
  let example: Instance | undefined;
  const anyInstance = (): Instance => {
    example ??= [...world.instances.values()][0];
    if (example === undefined) throw new Error("EC2 has had no instance yet");
    const { terminatedAtMs: _, stateReason: __, ...running } = example;
    return running;
  };
  return {
    async vmOfOtherOwner(machine: string) {
      const added = add(anyInstance(), new Map([[ownerTagKeys.name, machine]]));
      return { providerId: `aws:///eu-west-1/${added.id}`, ...removing(added) };
    },
    async secondVm(machine: string) {
      const first = named(machine);
      return removing(add(first, first.tags));
    },
    async manyVms(count: number) {
      const names = Array.from({ length: count }, (_, index) => `many-${index}`);
      const tagsOf = (name: string) => new Map([...Object.entries(ec2Spec.tags), [ownerTagKeys.name, name] as const]);
      return removing(...names.map((name) => add(anyInstance(), tagsOf(name))));
    },
    async slowDeletion() {
      const { shutdownMs } = world.times();
      Object.assign(world.times(), { shutdownMs: 600_000 });
      return { end: () => void Object.assign(world.times(), { shutdownMs }) };
    },
    async quotaExhausted() {
      world.capacity.set("m5.large", 0);
      return { end: () => void world.capacity.delete("m5.large") };
    },
    async terminationProtection(machine: string) {
      const end = refuse("OperationNotPermitted", {
        message: `The instance '${named(machine).id}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.`,
      });
      ec2.faults.add({ operation: "TerminateInstances", match: named(machine).id, times: 1_000, end });
      return { end: () => ec2.faults.clear() };
    },
    async attachedVolume(machine: string) {
      const id = `vol-0${world.random.hex(8)}`;
      world.volumes.set(id, {
        id,
        deviceName: "/dev/xvdz",
        sizeGiB: 1,
        type: "gp3",
        encrypted: false,
        deleteOnTermination: false,
        tags: new Map(),
        instanceId: named(machine).id,
      });
      return { exists: () => world.volumes.has(id), end: () => void world.volumes.delete(id) };
    },
  };
}

/** An emulated EC2 for the conformance suite. */
export const ec2Fixture = (hostnameType: "ip-name" | "resource-name"): FixtureFactory =>
  defineFixture(async () => {
    const ec2 = createEc2Emulator({
      pendingMs: 20,
      nameMs: 10,
      shutdownMs: 20,
      visibilityMs: 20,
      accessKeys: { [firstKeys.accessKeyID]: { secretAccessKey: firstKeys.secretAccessKey, account: "1" } },
      images: { "ami-1": { rootDeviceName: "/dev/xvda" }, "ami-2": { rootDeviceName: "/dev/xvda" } },
      subnets: { "subnet-a": { zone: "eu-west-1a", hostnameType } },
    });
    const { url } = await ec2.listen();
    const createDriver = (endpoint = url) => createAwsDriver({ endpoint, pollTimes });
    const { networkInterfaces } = ec2Spec;
    return {
      driver: createDriver(),
      machineClass: classOf(),
      secret: firstKeys,
      createDriver: () => createDriver(),
      publicSecretKeys: ["accessKeyID"],
      lacks: { parts: "volumes and interfaces of an instance end with it" },
      otherClass: classOf({ ami: "ami-2" }),
      otherClusterClass: classOf({ tags: { "kubernetes.io/cluster/other": "1", "kubernetes.io/role/node": "1" } }),
      missingReferences: {
        image: classOf({ ami: "ami-9" }),
        type: classOf({ machineType: "m99.large" }),
        profile: classOf({ iam: { name: "none" } }),
        "key pair": classOf({ keyName: "none" }),
        subnet: classOf({ networkInterfaces: networkInterfaces.map((card) => ({ ...card, subnetID: "subnet-9" })) }),
        "security group": classOf({
          networkInterfaces: networkInterfaces.map((card) => ({ ...card, securityGroupIDs: ["sg-9"] })),
        }),
      },
      withTags: (tags) => classOf({ tags: { ...ec2Spec.tags, ...tags } }),
      rejectedSecret: { ...firstKeys, secretAccessKey: "wrong-secret-0123456789" },
      rotateSecret() {
        ec2.world.accessKeys?.clear();
        ec2.world.accessKeys?.set(secondKeys.accessKeyID, {
          secretAccessKey: secondKeys.secretAccessKey,
          account: "1",
        });
        return secondKeys;
      },
      endpoint: { url, through: (endpoint) => ({ driver: createDriver(endpoint) }), errorAnswer },
      ownVolume: { spec: { csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-0123" } }, id: "vol-0123" },
      maxUserDataBytes: 16 * 1_024,
      inventory: () =>
        ec2.inventory().instances.map((instance) => ({
          id: instance.id,
          machineName: nameOf(instance),
          tags: Object.fromEntries(instance.tags),
          userData: Buffer.from(instance.userData, "base64"),
        })),
      resources: () =>
        Object.values(ec2.inventory())
          .flat()
          .map(({ id }) => id),
      nodesOf: (machine) =>
        nodeForms(() => {
          const id = ec2.inventory().instances.find((instance) => nameOf(instance) === machine)?.id;
          return ec2Nodes(ec2).find(({ providerId }) => providerId.endsWith(`/${id}`));
        }, ec2MachineId),
      stage: stagesOf(ec2),
      releaseMemory: () => ec2.log.clear(),
      close: () => closeEmulator(ec2),
    };
  });
