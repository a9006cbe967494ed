import {
  createEmulatorServer,
  type Emulator,
  type EmulatorServer,
  type EmulatorServerOptions,
} from "../server/index.ts";
import type { Ec2Action } from "./call.ts";
import {
  describeImages,
  describeInstanceTypeOfferings,
  describeInstanceTypes,
  describeSecurityGroups,
  describeSubnets,
  describeVolumes,
} from "./catalog.ts";
import { describeInstances } from "./describe-instances.ts";
import type { Instance, InstanceState, NetworkInterface, Volume } from "./instance.ts";
import {
  assignIpv6Addresses,
  describeNetworkInterfaces,
  modifyNetworkInterfaceAttribute,
} from "./network-interfaces.ts";
import { modelDifferences } from "./model/differences.ts";
import { readParameters } from "./parameters.ts";
import { Ec2Refusal, refusalReply } from "./refusal.ts";
import { runInstances } from "./run-instances.ts";
import { authenticate, signerOf } from "./signature.ts";
import { terminateInstances } from "./terminate-instances.ts";
import { assumeRoleWithWebIdentity, stsOperation, stsRefusal } from "./web-identity.ts";
import { createEc2World, type Ec2World, type Ec2WorldOptions } from "./world.ts";
import { xmlOf } from "./xml.ts";

/** Initial state and behavior of an emulated EC2. */
export interface Ec2EmulatorOptions extends Ec2WorldOptions, Omit<EmulatorServerOptions, "clock" | "random"> {}

/** Remaining resources of launches. Terminated instances do not count. */
export interface Ec2Inventory {
  readonly instances: readonly (Instance & { readonly state: InstanceState })[];
  readonly volumes: readonly Volume[];
  readonly networkInterfaces: readonly NetworkInterface[];
}

/** EC2, and STS for web identities, behind a server. */
export interface Ec2Emulator extends EmulatorServer {
  /** The state: a test may change it, for example its `capacity`, `accessKeys` and `webIdentities`. */
  readonly world: Ec2World;
  inventory(): Ec2Inventory;
  /** Terminates an instance as EC2 does when it reclaims a spot instance. */
  reclaim(instanceId: string): void;
  /** Stops an instance, as a user of the console does. */
  stop(instanceId: string): void;
}

const actions: Readonly<Record<string, (body: string) => Ec2Action>> = {
  AssignIpv6Addresses: () => assignIpv6Addresses,
  DescribeImages: () => describeImages,
  DescribeInstances: () => describeInstances,
  DescribeInstanceTypeOfferings: () => describeInstanceTypeOfferings,
  DescribeInstanceTypes: () => describeInstanceTypes,
  DescribeNetworkInterfaces: () => describeNetworkInterfaces,
  DescribeSecurityGroups: () => describeSecurityGroups,
  DescribeSubnets: () => describeSubnets,
  DescribeVolumes: () => describeVolumes,
  ModifyNetworkInterfaceAttribute: () => modifyNetworkInterfaceAttribute,
  RunInstances: runInstances,
  TerminateInstances: () => terminateInstances,
};

const namespace = "http://ec2.amazonaws.com/doc/2016-11-15/";

/** Parameters without subjects of a request. */
const unspoken = new Set(["Action", "Version", "UserData", "WebIdentityToken"]);

/** EC2 behind the server of all emulators. */
function emulatorOf(world: Ec2World): Emulator {
  const requestId = (): string => world.random.uuid();
  return {
    identify: (request) => {
      const form = new URLSearchParams(request.body);
      return {
        operation: form.get("Action") ?? "",
        subjects: [...form].filter(([key]) => !unspoken.has(key)).map(([, value]) => value),
        account: signerOf(request)?.accessKeyId ?? "",
      };
    },
    answer(request) {
      const id = requestId();
      try {
        const name = new URLSearchParams(request.body).get("Action") ?? "";
        const parameters = readParameters(request.body);
        if (name === stsOperation) return assumeRoleWithWebIdentity(parameters, world);
        const { region, account } = authenticate(request, world);
        const action = actions[name];
        if (action === undefined) {
          throw new Ec2Refusal("InvalidAction", `The action ${name} is not valid for this web service.`);
        }
        world.sweep();
        const content = action(request.body)(parameters, { world, region, account });
        return {
          status: 200,
          headers: { "content-type": "text/xml;charset=UTF-8", "x-amzn-requestid": id },
          body: `<?xml version="1.0" encoding="UTF-8"?>\n${xmlOf(`${name}Response`, { requestId: id, ...content }, namespace)}`,
        };
      } catch (error) {
        if (error instanceof Ec2Refusal) return refusalReply(error, id);
        throw error;
      }
    },
    refuse: (refusal, operation) =>
      operation === stsOperation ? stsRefusal(refusal) : refusalReply(refusal, requestId()),
    findDifferences: (exchange) => modelDifferences(exchange),
    throttled: { code: "RequestLimitExceeded", message: "Request limit exceeded." },
  };
}

/** Creates an emulated EC2. Call `listen` to start it. */
export function createEc2Emulator(options: Ec2EmulatorOptions = {}): Ec2Emulator {
  const world = createEc2World(options);
  const instance = (id: string): Instance => {
    const found = world.instances.get(id);
    if (found === undefined) throw new Error(`the emulated EC2 has no instance ${id}`);
    return found;
  };
  return {
    ...createEmulatorServer(emulatorOf(world), options),
    world,
    inventory() {
      world.sweep();
      const instances = [...world.instances.values()].flatMap((instance) => {
        const state = world.state(instance);
        return state === undefined || state === "terminated" ? [] : [{ ...instance, state }];
      });
      return {
        instances,
        volumes: [...world.volumes.values()],
        networkInterfaces: [...world.networkInterfaces.values()],
      };
    },
    reclaim(id) {
      const taken = instance(id);
      taken.terminatedAtMs = world.nowMs();
      taken.stateReason = {
        code: "Server.SpotInstanceTermination",
        message: "Server.SpotInstanceTermination: Spot instance termination",
      };
    },
    stop(id) {
      instance(id).stoppedAtMs = world.nowMs();
    },
  };
}
