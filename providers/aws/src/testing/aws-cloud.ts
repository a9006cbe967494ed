import { type CreateMachineRequest, type MachineIdentity, Secret, systemRandom } from "@millwright/core";
import { aMachine, secretOf, withoutPending } from "@millwright/core/testing";
import { createEc2Emulator, type Ec2Emulator, type Ec2EmulatorOptions } from "@millwright/emulators/ec2";
import { onTestFinished } from "vitest";
import { type AwsDriverOptions, createAwsDriver } from "../driver.ts";
import { type AwsSpec, awsSpecSchema } from "../spec/spec.ts";
import { actionOf, allowedActions } from "./iam-policy.ts";

export { aContext, aMachine, failureOf } from "@millwright/core/testing";

/** A `providerSpec` with nothing but what is required. */
export const plainSpec = {
  ami: "ami-1",
  region: "eu-west-1",
  machineType: "m5.large",
  iam: { name: "nodes" },
  blockDevices: [{ ebs: { volumeSize: 20, volumeType: "gp3" } }],
  networkInterfaces: [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"] }],
  tags: { "kubernetes.io/cluster/shoot": "1", "kubernetes.io/role/node": "1" },
} as const;

/** So many tags of a class, among them those of {@link plainSpec}. */
export const manyTags = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...Object.entries(plainSpec.tags),
    ...Array.from({ length: count - 2 }, (_, at) => [`t${at}`, "1"] as const),
  ]);

/** A class secret. */
export const plainSecret: Readonly<Record<string, string>> = {
  accessKeyID: "AKIA1",
  secretAccessKey: "first-secret",
  userData: "#!/bin/sh\necho hello",
};

/** A request to make a machine; it also serves for every other method. */
export function aRequest(
  machine: MachineIdentity = aMachine("m"),
  spec: Readonly<Record<string, unknown>> = {},
  secret: Readonly<Record<string, string>> = plainSecret,
): CreateMachineRequest<AwsSpec> {
  return {
    machine,
    machineClass: { name: "pool", spec: awsSpecSchema.parse({ ...plainSpec, ...spec }) },
    secret: secretOf(secret),
    idempotencyToken: `token-of-${machine.uid}`,
    userData: Secret.of("#!/bin/sh\necho hello"),
  };
}

/** An emulated EC2 and the driver against it over TCP. Both end with the test; what the emulator itself threw fails it, and what the README's IAM policy does not allow. */
export async function aCloud(emulatorOptions: Ec2EmulatorOptions = {}, driverOptions: AwsDriverOptions = {}) {
  const ec2 = createEc2Emulator(emulatorOptions);
  const { url } = await ec2.listen();
  onTestFinished(() => closeCloud(ec2));
  const driver = withoutPending(
    createAwsDriver({
      endpoint: url,
      // Without jitter the SDK repeats at once: tests do not wait.
      random: { ...systemRandom, next: () => 0 },
      ...driverOptions,
      pollTimes: { visibleMs: 2_000, lookAgainMs: 30, pollMs: 10, ...driverOptions.pollTimes },
    }),
  );
  return { ec2, url, driver };
}

async function closeCloud(ec2: Ec2Emulator): Promise<void> {
  await ec2.close();
  if (ec2.failures.length > 0) throw new Error("the emulator failed", { cause: ec2.failures[0] });
  const actions = new Set(ec2.log.requests.map(({ operation }) => actionOf(operation)));
  for (const action of actions) {
    if (action === undefined || allowedActions.has(action)) continue;
    throw new Error(`the driver asked for ${action}, which the README's IAM policy does not allow`);
  }
}

/** The parameters of the only request of an operation, without what every request has. */
export function sentParameters(ec2: Ec2Emulator, operation: string): Readonly<Record<string, string>> {
  const request = ec2.log.requests.find((entry) => entry.operation === operation);
  const form = new URLSearchParams(request?.body ?? "");
  form.delete("Action");
  form.delete("Version");
  return Object.fromEntries(form);
}
