import type { Filter } from "@aws-sdk/client-ec2";
import { MachineError } from "@millwright/core";
import { allPages, type Asking, type ClusterKeys, createBatch, type PooledSession } from "@millwright/core/driver-kit";
import type { ApiService } from "../api/api-call.ts";
import type { Ec2Api } from "../api/requests.ts";
import { ownerTagKeys } from "./owner-tags.ts";
import { readVm, type Vm } from "./vm.ts";

/** One region seen with one credential: the requests, and the questions that many machines ask at once. */
export interface Session extends PooledSession {
  readonly api: Ec2Api;
  readonly region: string;
  /**
   * The VMs that carry a machine's name, in any state. One request for up to 200 machines. The caller checks their owner: the tags of a class may have changed since, and other
   * clusters of the account may have machines of the same name.
   */
  named(machineName: string, asking: Asking): Promise<readonly Vm[]>;
  /** The VM with an id, in any state; undefined when EC2 does not show it. One request for up to 200. */
  byId(instanceId: string, asking: Asking): Promise<Vm | undefined>;
  /** All VMs of a cluster and role that are not terminating. Concurrent calls of several classes share one list. */
  all(keys: ClusterKeys, asking: Asking): Promise<readonly Vm[]>;
  /**
   * Name of the root disk of an image, asked for once: it never changes.
   *
   * @throws MachineError InvalidArgument for an image that does not exist
   */
  rootDevice(ami: string, asking: Asking): Promise<string | undefined>;
}

interface RememberedImage {
  readonly ask: ReturnType<typeof createBatch<string | undefined>>;
  known?: { readonly rootDeviceName: string | undefined };
}

/** EC2's limit for the values of one filter. */
const maxFilterValues = 200;
/** EC2's limit for one page. */
const pageSize = 1_000;
/** How long the first question waits for others: not noticed beside a request, and enough for a set that starts its machines. */
const windowMs = 10;
/** Images whose root disk is remembered. */
const rememberedImages = 100;

const liveStates = ["pending", "running", "stopping", "stopped"];

/** Starts a session. */
export function createSession(api: Ec2Api, region: string): Session {
  const images = new Map<string, RememberedImage>();

  const describe = async (service: ApiService, filters: Filter[], signal: AbortSignal): Promise<readonly Vm[]> => {
    const pages = await allPages("EC2", (token) =>
      api.describeInstances(
        service,
        { Filters: filters, MaxResults: pageSize, ...(token === undefined ? {} : { NextToken: token }) },
        signal,
      ),
    );
    return pages.flat().flatMap((instance) => readVm(instance, region) ?? []);
  };

  const clusterFilters = ({ cluster, role }: ClusterKeys): Filter[] => [
    { Name: "tag-key", Values: [cluster] },
    { Name: "tag-key", Values: [role] },
  ];

  const grouped = (vms: readonly Vm[], keyOf: (vm: Vm) => string): ReadonlyMap<string, readonly Vm[]> => {
    const groups = new Map<string, Vm[]>();
    for (const vm of vms) groups.set(keyOf(vm), [...(groups.get(keyOf(vm)) ?? []), vm]);
    return groups;
  };

  const batchByName = createBatch<readonly Vm[]>({
    maxKeys: maxFilterValues,
    windowMs,
    ask: async (names, signal) => {
      const filters = [{ Name: `tag:${ownerTagKeys.name}`, Values: [...names] }];
      const vms = await describe("instance_get_by_machine", filters, signal);
      return grouped(vms, ({ tags }) => tags.get(ownerTagKeys.name) ?? "");
    },
  });

  const batchById = createBatch<Vm>({
    maxKeys: maxFilterValues,
    windowMs,
    // By filter: a single unknown id among `InstanceIds` would fail all.
    ask: async (ids, signal) => {
      const vms = await describe("instance_get_by_id", [{ Name: "instance-id", Values: [...ids] }], signal);
      return new Map(vms.map((vm) => [vm.id, vm]));
    },
  });

  const imageOf = (ami: string): RememberedImage => {
    const known = images.get(ami);
    if (known !== undefined) return known;
    const [oldest] = images.keys();
    if (images.size >= rememberedImages && oldest !== undefined) images.delete(oldest);
    const image: RememberedImage = {
      // A set that starts its machines asks for one image many times at once.
      ask: createBatch<string | undefined>({
        maxKeys: maxFilterValues,
        windowMs,
        ask: async (_, signal) => {
          const found = await api.describeImage(ami, signal);
          if (found !== undefined) return new Map([[ami, found.RootDeviceName]]);
          throw new MachineError("InvalidArgument", `providerSpec.ami: there is no image "${ami}" in ${region}`);
        },
      }),
    };
    images.set(ami, image);
    return image;
  };

  const lists = createBatch<readonly Vm[]>({
    maxKeys: maxFilterValues,
    windowMs,
    ask: async (wanted, signal) =>
      new Map(
        await Promise.all(
          wanted.map(async (id): Promise<[string, readonly Vm[]]> => {
            const filters = [...clusterFilters(readKeys(id)), { Name: "instance-state-name", Values: liveStates }];
            return [id, await describe("instance_get_by_tag_and_status", filters, signal)];
          }),
        ),
      ),
  });

  return {
    api,
    region,
    close: () => api.close(),
    named: async (machineName, asking) => (await batchByName(machineName, asking)) ?? [],
    byId: (instanceId, asking) => batchById(instanceId, asking),
    all: async (keys, asking) => (await lists(JSON.stringify([keys.cluster, keys.role]), asking)) ?? [],
    async rootDevice(ami, asking) {
      const image = imageOf(ami);
      image.known ??= { rootDeviceName: await image.ask(ami, asking) };
      return image.known.rootDeviceName;
    },
  };
}

function readKeys(id: string): ClusterKeys {
  const parsed: unknown = JSON.parse(id);
  const [cluster, role]: readonly unknown[] = Array.isArray(parsed) ? parsed : [];
  return { cluster: String(cluster), role: String(role) };
}
