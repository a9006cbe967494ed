import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { systemClock, systemRandom } from "@millwright/base";
import {
  annotationKeys,
  type MachineDeployment,
  machineDeploymentResource,
  machineClassResource,
} from "@millwright/core/machine-api";
import { selfSignedCertificate } from "@millwright/emulators/server";
import { eventResource, type KubeObject, messageOf, nodeResource, noLog, secretResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { serveAutoscaler } from "../../packages/autoscaler-grpc/src/serve-autoscaler.ts";
import { type AutoscalerClient, connectAutoscaler } from "../../packages/autoscaler-grpc/src/testing/served-fleet.ts";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";

const namespace = "default";

let fleet: ControlledFleet;
afterEach(() => fleet.close());

/** Calls the endpoint of a process, as a cluster autoscaler with `--cloud-provider=externalgrpc` does. */
async function connect(run: MillwrightProcess): Promise<AutoscalerClient> {
  const [, address = ""] = await run.waitFor(/"address":"([^"]*)"[^\n]*Serving the cluster autoscaler/);
  const client = connectAutoscaler(address);
  onTestFinished(() => client.close());
  await eventually(() => client.call("Refresh", {}));
  return client;
}

const serve = (...flags: readonly string[]): MillwrightProcess =>
  fleet.runAlone("--autoscaler-address=127.0.0.1:0", ...flags);

/** A deployment that the autoscaler scales. */
async function deploy(name: string, replicas: number, [min, max]: readonly [number, number]): Promise<void> {
  await fleet.api.create(machineClassResource, machineClass(`class-${name}`));
  const { metadata, ...rest } = machineDeployment(name, `class-${name}`, replicas);
  const annotations = { [annotationKeys.autoscalerMinSize]: `${min}`, [annotationKeys.autoscalerMaxSize]: `${max}` };
  await fleet.api.create(machineDeploymentResource, { ...rest, metadata: { ...metadata, annotations } });
}

const sizeOf = async (name: string): Promise<number | undefined> =>
  (await fleet.api.get<MachineDeployment>(machineDeploymentResource, { namespace, name })).spec.replicas;

interface Node extends KubeObject {
  readonly spec?: { readonly providerID?: string; readonly taints?: readonly { readonly key: string }[] };
}

/** The Nodes as the autoscaler describes them in its calls. */
const nodes = async () =>
  (await fleet.api.list<Node>(nodeResource)).items.map(({ metadata, spec }) => ({
    name: metadata.name ?? "",
    providerID: spec?.providerID ?? "",
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
  }));

/** Waits until the deployments have these numbers of machines with a Node each, and no VM more. */
const untilJoined = (count: number): Promise<void> =>
  eventually(async () => {
    const phases = (await fleet.machines()).map(({ status }) => status?.currentStatus?.phase);
    expect(phases).toEqual(Array.from({ length: count }, () => "Running"));
    expect(await nodes()).toHaveLength(count);
    expect(fleet.cloud.vms()).toHaveLength(count);
  }, 90_000);

describe("a cluster autoscaler with --cloud-provider=externalgrpc", () => {
  beforeEach(async () => {
    fleet = await startControlledFleet();
  });

  it("scales up from zero by the template of the class, and names the node that is deleted, also after the endpoint was killed", async () => {
    await deploy("pool", 0, [0, 3]);
    const first = serve();
    const client = await connect(first);
    const id = "default/pool";
    await eventually(async () => {
      expect((await client.call("NodeGroups", {})).nodeGroups).toMatchObject([{ id, minSize: 0, maxSize: 3 }]);
    });
    // The driver fills in what the machine type has.
    const template = await eventually(() => client.call("NodeGroupTemplateNodeInfo", { id }));
    expect(Buffer.from(template.nodeBytes).toString("latin1")).toContain("node.kubernetes.io/instance-type");

    await client.call("NodeGroupIncreaseSize", { id, delta: 3 });
    expect(await client.call("NodeGroupTargetSize", { id })).toEqual({ targetSize: 3 });
    await untilJoined(3);
    const [victim, ...rest] = await nodes();
    if (victim === undefined) throw new Error("no node");
    expect((await client.call("NodeGroupForNode", { node: victim })).nodeGroup.id).toBe(id);
    const { instances } = await client.call("NodeGroupNodes", { id });
    expect(instances.map((each) => each.id).toSorted()).toEqual(
      [victim, ...rest].map(({ providerID }) => providerID).toSorted(),
    );

    // The response is lost: the autoscaler repeats the call, at the endpoint that is started again.
    await client.call("NodeGroupDeleteNodes", { id, nodes: [victim] });
    await first.stop("SIGKILL");
    const again = await connect(serve());
    const repeated = again.call("NodeGroupDeleteNodes", { id, nodes: [victim] });
    // Its machine may be gone by then.
    expect(await repeated.then(() => "OK", messageOf)).toMatch(/^OK$|belongs to no Machine/);
    await untilJoined(2);
    expect(await sizeOf("pool")).toBe(2);
    expect((await nodes()).map(({ name }) => name).toSorted()).toEqual(rest.map(({ name }) => name).toSorted());
    expect(await again.call("NodeGroupTargetSize", { id })).toEqual({ targetSize: 2 });
  });

  it("gets out-of-resources of a group, takes the instance back and scales another group", async () => {
    await fleet.cloud.addFault({ operation: "create", code: "ResourceExhausted", times: 1_000, match: "scarce" });
    await deploy("scarce", 0, [0, 3]);
    await deploy("spare", 0, [0, 3]);
    const client = await connect(serve());
    await eventually(() => client.call("NodeGroupIncreaseSize", { id: "default/scarce", delta: 1 }));
    const [instance] = await eventually(async () => {
      const { instances } = await client.call("NodeGroupNodes", { id: "default/scarce" });
      expect(instances).toMatchObject([
        { status: { instanceState: 2, errorInfo: { errorCode: "ResourceExhausted", instanceErrorClass: 1 } } },
      ]);
      return instances;
    });
    if (instance === undefined) throw new Error("no instance");
    const unregistered = { name: instance.id, providerID: instance.id, labels: {}, annotations: {} };
    await client.call("NodeGroupDeleteNodes", { id: "default/scarce", nodes: [unregistered] });
    await client.call("NodeGroupIncreaseSize", { id: "default/spare", delta: 1 });
    await untilJoined(1);
    expect(await sizeOf("scarce")).toBe(0);
    expect((await client.call("NodeGroupNodes", { id: "default/scarce" })).instances).toEqual([]);
  });

  it("never sees a node that takes pods and lacks the labels of its template, and is warned of pools whose nodes would", async () => {
    const flag = "kubelet --register-with-taints=startup-taint.cluster-autoscaler.kubernetes.io/millwright:NoSchedule";
    const register = async (userData: string | Uint8Array): Promise<void> => {
      const data = { userData: Buffer.from(userData).toString("base64") };
      await fleet.api.patch(secretResource, { namespace, name: "cloud" }, { data }, { kind: "merge" });
    };
    /** What the scheduler and the autoscaler may have read of each node, at any moment. */
    const seen: { readonly isOpen: boolean; readonly isLabeled: boolean }[] = [];
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const { resourceVersion = "" } = (await fleet.api.list<Node>(nodeResource)).metadata;
    const watched = (async () => {
      for await (const { object } of fleet.api.watch(nodeResource, { resourceVersion }, stop.signal)) {
        const { spec, metadata: node } = object as Node;
        const isOpen = spec?.taints?.some(({ key }) => key.startsWith("startup-taint.")) !== true;
        seen.push({ isOpen, isLabeled: node.labels?.["pool"] === "web" });
      }
    })().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    await register(flag);
    await deploy("pool", 3, [0, 5]);
    const nodeTemplate = { metadata: { labels: { pool: "web" } } };
    await fleet.api.patch(
      machineDeploymentResource,
      { namespace, name: "pool" },
      { spec: { template: { spec: { nodeTemplate } } } },
      { kind: "merge" },
    );
    serve();
    await untilJoined(3);
    expect(seen.filter(({ isOpen }) => !isOpen).length).toBeGreaterThanOrEqual(3);
    expect(seen.filter(({ isOpen, isLabeled }) => isOpen && !isLabeled)).toEqual([]);
    const warnings = async () =>
      (await fleet.api.list<KubeObject & { readonly reason?: string }>(eventResource, { namespace })).items.filter(
        ({ reason }) => reason === "NodeWithoutStartupTaint",
      );
    expect(await warnings()).toEqual([]);
    const doctor = async (): Promise<string> => {
      const args = ["doctor", "--namespace=default", "--provider=mock", "--kubeconfig", fleet.kubeconfig];
      const command = startMillwright(args, { NO_COLOR: "1" });
      await command.ended;
      return command.output().replaceAll(/\s+/g, " ");
    };
    expect(await doctor()).not.toContain("Startup taint");
    await register(gzipSync(flag));
    expect(await doctor()).not.toContain("Startup taint");

    await register("boot");
    expect(await doctor()).toContain("warning Startup taint: A cluster autoscaler scales MachineDeployment pool");
    await fleet.api.patch(
      machineDeploymentResource,
      { namespace, name: "pool" },
      { spec: { replicas: 4 } },
      { kind: "merge" },
    );
    await untilJoined(4);
    await eventually(async () => expect(await warnings()).toHaveLength(1));
    stop.abort();
    await watched;
  });

  it("deletes and requests a hundred nodes by ten calls at once, of which none fails for a conflict", async () => {
    const size = 100;
    await deploy("pool", 0, [0, 2 * size]);
    const client = await connect(serve("--kube-api-qps=200", "--kube-api-burst=400"));
    const id = "default/pool";
    const many = async (count: number, call: (index: number) => Promise<unknown>): Promise<void> => {
      const waiting = Array.from({ length: count }, (_, index) => index);
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) await call(index);
        }),
      );
    };
    await many(size, () => client.call("NodeGroupIncreaseSize", { id, delta: 1 }));
    expect(await sizeOf("pool")).toBe(size);
    await untilJoined(size);
    const all = await nodes();
    await many(size - 5, (index) => client.call("NodeGroupDeleteNodes", { id, nodes: [all[index]] }));
    expect(await sizeOf("pool")).toBe(5);
    await untilJoined(5);
    expect((await nodes()).map(({ name }) => name).toSorted()).toEqual(
      all
        .slice(size - 5)
        .map(({ name }) => name)
        .toSorted(),
    );
  });

  it("may not delete nodes while a template is rolled out, and may afterwards", async () => {
    await deploy("pool", 2, [0, 5]);
    const client = await connect(serve());
    const id = "default/pool";
    await untilJoined(2);
    await fleet.cloud.addFault({ operation: "create", code: "Unavailable", times: 1_000 });
    const template = { metadata: { annotations: { version: "2" } } };
    await fleet.api.patch(
      machineDeploymentResource,
      { namespace, name: "pool" },
      { spec: { template } },
      { kind: "merge" },
    );
    await eventually(async () => expect(await fleet.machines()).toHaveLength(3));
    const [victim] = await nodes();
    const request = { id, nodes: [{ ...victim, annotations: {} }] };
    await expect(client.call("NodeGroupDeleteNodes", request)).rejects.toMatchObject({
      details: expect.stringMatching(/rolling out|scale-down-disabled/),
    });
    expect(await sizeOf("pool")).toBe(2);
    await fleet.cloud.clearFaults();
    await eventually(async () => {
      const { status } = await fleet.api.get<MachineDeployment>(machineDeploymentResource, { namespace, name: "pool" });
      expect(status).toMatchObject({ updatedReplicas: 2, availableReplicas: 2, replicas: 2 });
    }, 90_000);
    await eventually(async () => {
      const [node] = await nodes();
      await client.call("NodeGroupDeleteNodes", { id, nodes: [node] });
    });
    await untilJoined(1);
    expect(await sizeOf("pool")).toBe(1);
  });
});

it("the endpoint serves autoscalers whose certificate its authority has signed, and no others", async () => {
  fleet = await startControlledFleet();
  const folder = await mkdtemp(join(tmpdir(), "autoscaler-tls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [server, client, stranger] = [1, 2, 3].map(() => selfSignedCertificate(systemClock.now()));
  if (server === undefined || client === undefined || stranger === undefined) throw new Error("no certificates");
  const file = (name: string): string => join(folder, name);
  await writeFile(file("tls.crt"), server.cert);
  await writeFile(file("tls.key"), server.key);
  await writeFile(file("ca.crt"), client.cert);
  const run = serve(
    `--autoscaler-tls-cert=${file("tls.crt")}`,
    `--autoscaler-tls-key=${file("tls.key")}`,
    `--autoscaler-tls-client-ca=${file("ca.crt")}`,
  );
  const [, port = ""] = await run.waitFor(/"address":"127.0.0.1:(\d+)"[^\n]*Serving the cluster autoscaler/);
  const address = `localhost:${port}`;
  const groupsFor = async (...args: Parameters<typeof connectAutoscaler>) => {
    const autoscaler = connectAutoscaler(...args);
    try {
      return await autoscaler.call("NodeGroups", {});
    } finally {
      autoscaler.close();
    }
  };
  await eventually(async () =>
    expect(await groupsFor(address, { ca: server.cert, ...client })).toEqual({ nodeGroups: [] }),
  );
  const noConnection = { details: expect.stringMatching(/No connection established|ECONNRESET|socket|certificate/) };
  await expect(groupsFor(address, { ca: server.cert, ...stranger })).rejects.toMatchObject(noConnection);
  await expect(groupsFor(address, { ca: stranger.cert, ...client })).rejects.toMatchObject(noConnection);
  await expect(groupsFor(address)).rejects.toMatchObject({ code: 14 });
});

it("the endpoint serves autoscalers that its authority has signed and whose certificate has one of the names", async () => {
  fleet = await startControlledFleet();
  const folder = await mkdtemp(join(tmpdir(), "autoscaler-tls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const server = selfSignedCertificate(systemClock.now());
  const client = selfSignedCertificate(systemClock.now(), ["cluster-autoscaler"]);
  const file = (name: string): string => join(folder, name);
  await writeFile(file("tls.crt"), server.cert);
  await writeFile(file("tls.key"), server.key);
  await writeFile(file("ca.crt"), client.cert);
  const groupsOf = async (names: string) => {
    const run = serve(
      `--autoscaler-tls-cert=${file("tls.crt")}`,
      `--autoscaler-tls-key=${file("tls.key")}`,
      `--autoscaler-tls-client-ca=${file("ca.crt")}`,
      `--autoscaler-client-names=${names}`,
    );
    const [, port = ""] = await run.waitFor(/"address":"127.0.0.1:(\d+)"[^\n]*Serving the cluster autoscaler/);
    const connected = connectAutoscaler(`localhost:${port}`, { ca: server.cert, ...client });
    const answer = await eventually(async () => {
      const reply = await connected.call("NodeGroups", {}).catch(messageOf);
      expect(reply).not.toContain("UNAVAILABLE");
      return reply;
    });
    connected.close();
    await run.stop("SIGTERM");
    return answer;
  };
  expect(await groupsOf("another,cluster-autoscaler")).toEqual({ nodeGroups: [] });
  expect(await groupsOf("kubelet")).toMatch(/PERMISSION_DENIED: .*--autoscaler-client-names/);
});

it("the endpoint reads renewed files of TLS while it runs", async () => {
  fleet = await startControlledFleet();
  const folder = await mkdtemp(join(tmpdir(), "autoscaler-tls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [server, client, renewed] = [1, 2, 3].map(() => selfSignedCertificate(systemClock.now()));
  if (server === undefined || client === undefined || renewed === undefined) throw new Error("no certificates");
  const tls = { cert: join(folder, "tls.crt"), key: join(folder, "tls.key"), clientCa: join(folder, "ca.crt") };
  await writeFile(tls.cert, server.cert);
  await writeFile(tls.key, server.key);
  await writeFile(tls.clientCa, client.cert);
  const served = await serveAutoscaler({
    address: "127.0.0.1",
    port: 0,
    tls,
    fleets: [],
    ready: () => Promise.resolve(),
    control: fleet.api,
    clock: systemClock,
    random: systemRandom,
    log: noLog,
  });
  onTestFinished(() => served.close());
  const groupsFor = async (ca: string) => {
    const autoscaler = connectAutoscaler(`localhost:${served.port}`, { ca, ...client });
    return autoscaler.call("NodeGroups", {}).finally(() => autoscaler.close());
  };
  await eventually(async () => expect(await groupsFor(server.cert)).toEqual({ nodeGroups: [] }));
  await expect(groupsFor(renewed.cert)).rejects.toMatchObject({ code: 14 });
  await writeFile(tls.key, renewed.key);
  await writeFile(tls.cert, renewed.cert);
  await eventually(async () => expect(await groupsFor(renewed.cert)).toEqual({ nodeGroups: [] }));
});
