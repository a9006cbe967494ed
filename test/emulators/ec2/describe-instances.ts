import type { Ec2Action, Ec2Call } from "./call.ts";
import { readFilters, tagValues } from "./filters.ts";
import { type Instance, instanceStates } from "./instance.ts";
import { type Parameters, refuseDryRun } from "./parameters.ts";
import { Ec2Refusal } from "./refusal.ts";
import type { Ec2World } from "./world.ts";
import type { Xml, XmlGroup } from "./xml.ts";

/** Tags in a description. */
export const tagSet = (tags: ReadonlyMap<string, string>): Xml => [...tags].map(([key, value]) => ({ key, value }));

/** An instance in a description. */
export function describeInstance(world: Ec2World, instance: Instance): Xml {
  const state = world.state(instance) ?? "terminated";
  const isGone = state === "terminated";
  const isNamed = !isGone && world.nowMs() - instance.launchedAtMs >= world.times().nameMs;
  const interfaces = [...world.networkInterfaces.values()].filter(({ instanceId }) => instanceId === instance.id);
  const primary = interfaces.find(({ deviceIndex, networkCardIndex }) => deviceIndex === 0 && networkCardIndex === 0);
  return {
    instanceId: instance.id,
    imageId: instance.imageId,
    instanceState: { code: instanceStates[state], name: state },
    privateDnsName: isNamed ? instance.privateDnsName : "",
    reason: instance.stateReason?.message ?? "",
    ...(instance.stateReason === undefined ? {} : { stateReason: { ...instance.stateReason } }),
    instanceType: instance.instanceType,
    launchTime: instance.launchTime,
    clientToken: instance.clientToken,
    ...(instance.lifecycle === undefined ? {} : { instanceLifecycle: instance.lifecycle }),
    ...(isGone || primary === undefined
      ? {}
      : {
          privateIpAddress: primary.privateIp,
          ...(primary.publicIp === undefined ? {} : { ipAddress: primary.publicIp }),
          subnetId: primary.subnetId,
          sourceDestCheck: primary.sourceDestCheck,
        }),
    ...instance.shown,
    tagSet: tagSet(instance.tags),
    networkInterfaceSet: interfaces.map((card) => ({
      networkInterfaceId: card.id,
      subnetId: card.subnetId,
      description: card.description,
      privateIpAddress: card.privateIp,
      sourceDestCheck: card.sourceDestCheck,
      interfaceType: card.interfaceType,
      groupSet: card.groupIds.map((groupId) => ({ groupId, groupName: groupId })),
      attachment: {
        attachmentId: card.id.replace("eni-", "eni-attach-"),
        deviceIndex: card.deviceIndex,
        networkCardIndex: card.networkCardIndex,
        deleteOnTermination: card.deleteOnTermination,
        status: "attached",
      },
      ipv6AddressesSet: card.ipv6Addresses.map((ipv6Address) => ({ ipv6Address })),
      ipv6PrefixSet: card.ipv6Prefixes.map((ipv6Prefix) => ({ ipv6Prefix })),
    })),
    blockDeviceMapping: [...world.volumes.values()]
      .filter(({ instanceId }) => instanceId === instance.id)
      .map(({ id, deviceName, deleteOnTermination }) => ({
        deviceName,
        ebs: { volumeId: id, status: "attached", deleteOnTermination },
      })),
  };
}

/** An instance inside of its reservation. */
export const reservation = (world: Ec2World, instance: Instance): XmlGroup => ({
  reservationId: instance.reservationId,
  ownerId: instance.account,
  instancesSet: [describeInstance(world, instance)],
});

const malformed = (id: string): Ec2Refusal => new Ec2Refusal("InvalidInstanceID.Malformed", `Invalid id: "${id}"`);

/** The instances with these IDs; throws when one is not visible. */
export function instancesById({ world, region, account }: Ec2Call, ids: readonly string[]): readonly Instance[] {
  for (const id of ids) if (!/^i-[0-9a-f]{8,17}$/.test(id)) throw malformed(id);
  const found = ids.map((id) => world.instances.get(id));
  const missing = ids.filter((_, index) => {
    const instance = found[index];
    const isTheirs = instance?.region === region && instance.account === account;
    return instance === undefined || !isTheirs || !world.isVisible(instance);
  });
  if (missing.length === 0) return found.filter((instance) => instance !== undefined);
  const which =
    missing.length === 1
      ? `The instance ID '${missing[0] ?? ""}' does not exist`
      : `The instance IDs '${missing.join(", ")}' do not exist`;
  throw new Ec2Refusal("InvalidInstanceID.NotFound", which);
}

/** The filters of DescribeInstances. */
function filterValues(world: Ec2World, instance: Instance, name: string): readonly string[] | undefined {
  switch (name) {
    case "instance-id":
      return [instance.id];
    case "instance-state-name":
      return [world.state(instance) ?? ""];
    case "client-token":
      return [instance.clientToken];
    case "instance-type":
      return [instance.instanceType];
    default:
      return tagValues(instance.tags, name);
  }
}

const longestPage = 1_000;

function readPage(parameters: Parameters, ids: readonly string[]): { readonly size: number; readonly after: number } {
  const size = parameters.number("MaxResults");
  const token = parameters.text("NextToken");
  if (size !== undefined && ids.length > 0) {
    throw new Ec2Refusal(
      "InvalidParameterCombination",
      "The parameter instancesSet cannot be used with the parameter maxResults",
    );
  }
  if (size !== undefined && (size < 5 || size > longestPage)) {
    throw new Ec2Refusal(
      "InvalidParameterValue",
      `Value ( ${size} ) for parameter maxResults is invalid. Expecting a value between 5 and 1000.`,
    );
  }
  const after =
    token === undefined ? -1 : Number(Buffer.from(token, "base64url").toString("utf8").replace("after-", ""));
  if (!Number.isInteger(after)) throw new Ec2Refusal("InvalidNextToken", "The token is not valid");
  return { size: size ?? longestPage, after };
}

/** `DescribeInstances`. */
export const describeInstances: Ec2Action = (parameters, call) => {
  const { world, region, account } = call;
  const ids = parameters.texts("InstanceId");
  const { size, after } = readPage(parameters, ids);
  const fits = readFilters(parameters);
  refuseDryRun(parameters);
  parameters.refuseUnread();
  const candidates =
    ids.length > 0
      ? instancesById(call, ids)
      : [...world.instances.values()].filter(
          (instance) => instance.region === region && instance.account === account && world.isVisible(instance),
        );
  const found = candidates.filter((instance) => fits((name) => filterValues(world, instance, name)));
  const rest = found.filter(({ sequence }) => sequence > after);
  const page = rest.slice(0, size);
  const last = page.at(-1);
  return {
    reservationSet: page.map((instance) => reservation(world, instance)),
    ...(rest.length > page.length && last !== undefined
      ? { nextToken: Buffer.from(`after-${last.sequence}`).toString("base64url") }
      : {}),
  };
};
