import { systemRandom } from "@millwright/base";
import { secretOf } from "@millwright/core/testing";
import { createEc2Emulator } from "@millwright/emulators/ec2";
import { awsSpecSchema, createAwsDriver } from "@millwright/provider-aws";
import { closeEmulator } from "./close-emulator.ts";
import { ec2Keys, ec2Spec } from "./ec2-cloud.ts";
import { describeLoad, loadRequests } from "./load-scenario.ts";

const bounds = {
  create: "RunInstances",
  lookups: ["DescribeInstances", "DescribeImages"],
  creationLookups: 150,
  deletionLookups: 100,
  creationRequests: 350,
  inFlight: 20,
  connections: 20,
};
const spec = awsSpecSchema.parse(ec2Spec);
const secret = secretOf({ ...ec2Keys, userData: "boot" });

describeLoad("EC2", bounds, async ({ latencyMs = 0, waitMs = 0, ...pace }) => {
  const ec2 = createEc2Emulator({
    ...pace,
    latencyMs,
    nameMs: waitMs,
    shutdownMs: waitMs,
  });
  const { url } = await ec2.listen();
  return {
    driver: createAwsDriver({
      endpoint: url,
      ...pace,
      // By the clock of the driver, which may run fast.
      requestTimeoutMs: 3_600_000,
      // Without jitter the SDK retries at once.
      random: { ...systemRandom, next: () => 0 },
      pollTimes: { visibleMs: 60_000, lookAgainMs: 30, pollMs: 20 },
    }),
    log: ec2.log,
    faults: ec2.faults,
    request: loadRequests(spec, secret),
    vms: () => ec2.inventory().instances.length,
    things: () => Object.values(ec2.inventory()).flat(),
    close: () => closeEmulator(ec2),
  };
});
