import { Client, credentials, type ServiceDefinition } from "@grpc/grpc-js";
import { isRecord, type ResourceType, systemClock, systemRandom } from "@millwright/base";
import {
  annotationKeys,
  type Machine,
  type MachineClass,
  type MachineDeployment,
  type MachineSet,
  machineResource,
} from "@millwright/core/machine-api";
import { ApiError, createStore, keyFor, noLog, type ObjectRef, type PatchOptions, type Store } from "@millwright/kube";
import { expect } from "vitest";
import type { Node } from "../groups/fleet.ts";
import { type AutoscalerOptions, serveAutoscaler } from "../serve-autoscaler.ts";
import type { WireCalls, WireNode } from "../wire/messages.ts";
import { cloudProviderService } from "../wire/service.ts";

/** A client of the service, as the autoscaler is one. Calls reject with gRPC's error, which has `code` and `details`. */
export interface AutoscalerClient {
  /** @param options.deadlineMs how long the call may take, milliseconds; 20 s by default */
  call<Name extends keyof WireCalls>(
    name: Name,
    request: object,
    options?: { readonly deadlineMs: number },
  ): Promise<WireCalls[Name][1]>;
  close(): void;
}

/** What an autoscaler authenticates with, as PEM. */
export interface ClientTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Connects to an endpoint; without `tls` in plain text. `service`: the messages of another version of the autoscaler. */
export function connectAutoscaler(
  address: string,
  tls?: ClientTls,
  service: ServiceDefinition = cloudProviderService,
): AutoscalerClient {
  const channel =
    tls === undefined
      ? credentials.createInsecure()
      : credentials.createSsl(Buffer.from(tls.ca), Buffer.from(tls.key), Buffer.from(tls.cert));
  const client = new Client(address, channel);
  return {
    call: (name, request, { deadlineMs } = { deadlineMs: 20_000 }) =>
      new Promise((resolve, reject) => {
        const method = service[name];
        if (method === undefined) return reject(new Error(`no rpc ${name}`));
        const { path, requestSerialize, responseDeserialize } = method;
        client.makeUnaryRequest(
          path,
          requestSerialize,
          (bytes) => responseDeserialize(bytes),
          request,
          { deadline: systemClock.now().getTime() + deadlineMs },
          (error, response) => {
            if (error !== null) reject(error);
            // The types are those of the proto files.
            // oxlint-disable-next-line typescript/no-unsafe-type-assertion
            else resolve(response as WireCalls[typeof name][1]);
          },
        );
      }),
    close: () => client.close(),
  };
}

/** The code and the text that a call is rejected with. */
export const rejection = (code: number, details: RegExp): object => ({ code, details: expect.stringMatching(details) });

/** A Node as the autoscaler describes it. */
export const wireNode = (name: string, providerID: string, annotations: Record<string, string> = {}): WireNode => ({
  name,
  providerID,
  labels: {},
  annotations,
});

const meta = (name: string, uid: string) => ({ name, namespace: "ns", uid, resourceVersion: "1" });

/** A deployment `name` with a set of the same name, scaled between 1 and 5. */
export const aDeployment = (name: string, change: Partial<MachineDeployment> = {}): MachineDeployment => ({
  spec: { replicas: 2, template: { spec: { class: { kind: "MachineClass", name: "small" } } } },
  ...change,
  metadata: {
    ...meta(name, `uid-${name}`),
    annotations: { [annotationKeys.autoscalerMinSize]: "1", [annotationKeys.autoscalerMaxSize]: "5" },
    ...change.metadata,
  },
});

/** A machine of the set of a deployment, whose Node has joined. */
export const aMachine = (deployment: string, name: string, change: Partial<Machine> = {}): Machine => ({
  spec: { providerID: `mock:///${name}` },
  status: { currentStatus: { phase: "Running" } },
  ...change,
  metadata: {
    ...meta(name, `uid-${name}`),
    labels: { node: `node-${name}` },
    ownerReferences: [
      {
        apiVersion: "machine.sapcloud.io/v1alpha1",
        kind: "MachineSet",
        name: deployment,
        uid: `set-${deployment}`,
        controller: true,
      },
    ],
    ...change.metadata,
  },
});

/** A set with machines of a deployment. */
export const aSet = (name: string, setName = name): MachineSet => ({
  metadata: {
    ...meta(setName, `set-${setName}`),
    ownerReferences: [
      {
        apiVersion: "machine.sapcloud.io/v1alpha1",
        kind: "MachineDeployment",
        name,
        uid: `uid-${name}`,
        controller: true,
      },
    ],
  },
  spec: { replicas: 2, template: { spec: {} } },
});

/** A fleet that is served, the objects of its API server, and a client. */
export interface ServedFleet extends AutoscalerClient {
  /** Where it is served. */
  readonly address: string;
  readonly deployments: Store<MachineDeployment>;
  readonly sets: Store<MachineSet>;
  readonly machines: Store<Machine>;
  readonly nodes: Store<Node>;
  readonly classes: Store<MachineClass>;
  /** What the API server has, by key: the caches may be behind. */
  readonly server: Map<string, MachineDeployment | Machine>;
  /** Patches of deployments that the API server has accepted. */
  readonly patches: object[];
  /** Is called before each patch, to change what it meets. */
  beforePatch: () => void;
  add(...objects: readonly (MachineDeployment | Machine)[]): void;
  /** The replicas of a deployment at the API server. Default: of `web`. */
  sizeOf(name?: string): number | undefined;
  /** The machines that `web` is to delete, as its annotation lists them. */
  triggerOf(): string;
  end(): Promise<void>;
}

const isMachine = (object: MachineDeployment | Machine): object is Machine => !("template" in object.spec);

const keyAtServer = (type: ResourceType, ref: ObjectRef): string =>
  `${type.plural === machineResource.plural ? "machine" : "deployment"} ${keyFor(ref)}`;

/** An API server that has objects, as far as the endpoint requests them. */
function fakeControl({ server, patches }: Pick<ServedFleet, "server" | "patches">, beforePatch: () => void) {
  const found = (type: ResourceType, ref: ObjectRef) => {
    const object = server.get(keyAtServer(type, ref));
    const missing = { status: 404, reason: "NotFound", message: `no ${ref.name}`, details: { name: ref.name } };
    if (object === undefined) throw new ApiError(missing);
    return object;
  };
  const change = (type: ResourceType, ref: ObjectRef, patch: unknown, resourceVersion: string | undefined) => {
    beforePatch();
    const before = found(type, ref);
    if (isMachine(before) || !isRecord(patch)) throw new Error("only deployments are changed");
    if (before.metadata.resourceVersion !== resourceVersion)
      throw new ApiError({ status: 409, reason: "Conflict", message: "the object has been modified" });
    const { metadata, spec } = patch as Partial<MachineDeployment>;
    patches.push(patch);
    const after = {
      ...before,
      metadata: {
        ...before.metadata,
        annotations: { ...before.metadata.annotations, ...metadata?.annotations },
        resourceVersion: `changed-${patches.length}`,
      },
      spec: { ...before.spec, ...spec },
    };
    server.set(keyAtServer(type, ref), after);
    return after;
  };
  return {
    // The caller names the type of the object.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    get: async <T>(type: ResourceType, ref: ObjectRef) => found(type, ref) as T,
    patch: async <T>(type: ResourceType, ref: ObjectRef, patch: unknown, { resourceVersion }: PatchOptions) => {
      // Other calls come meanwhile.
      await systemClock.sleep(5);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return change(type, ref, patch, resourceVersion) as T;
    },
  };
}

/** Serves a fleet of the namespace `ns`. Deployments get a set; what is added is in the cache and at the API server. */
export async function serveFleet(change: Partial<AutoscalerOptions> = {}): Promise<ServedFleet> {
  const deployments = createStore<MachineDeployment>();
  const sets = createStore<MachineSet>();
  const machines = createStore<Machine>();
  const nodes = createStore<Node>();
  const classes = createStore<MachineClass>();
  const server: ServedFleet["server"] = new Map();
  const patches: object[] = [];
  const endpoint = await serveAutoscaler({
    address: "127.0.0.1",
    port: 0,
    fleets: [{ namespace: "ns", machines, sets, deployments, classes, nodes }],
    ready: () => Promise.resolve(),
    control: fakeControl({ server, patches }, () => fleet.beforePatch()),
    clock: systemClock,
    random: systemRandom,
    log: noLog,
    ...change,
  });
  const address = `127.0.0.1:${endpoint.port}`;
  const client = connectAutoscaler(address);
  const fleet: ServedFleet = {
    address,
    deployments,
    sets,
    machines,
    nodes,
    classes,
    server,
    patches,
    beforePatch: () => undefined,
    add(...objects) {
      for (const object of objects) {
        const ref = { namespace: object.metadata.namespace, name: object.metadata.name };
        if (isMachine(object)) machines.applyEvent(object);
        else {
          deployments.applyEvent(object);
          sets.applyEvent(aSet(object.metadata.name));
        }
        server.set(`${isMachine(object) ? "machine" : "deployment"} ${keyFor(ref)}`, object);
      }
    },
    sizeOf(name = "web") {
      const found = server.get(`deployment ns/${name}`);
      return found === undefined || isMachine(found) ? undefined : found.spec.replicas;
    },
    triggerOf: () => server.get("deployment ns/web")?.metadata.annotations?.[annotationKeys.triggerDeletion] ?? "",
    ...client,
    async end() {
      client.close();
      await endpoint.close();
    },
  };
  return fleet;
}
