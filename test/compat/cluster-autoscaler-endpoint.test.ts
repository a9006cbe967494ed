import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import {
  annotationKeys,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { selfSignedCertificate } from "@millwright/emulators/server";
import { type KubeObject, messageOf, nodeResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AutoscalerClient, connectAutoscaler } from "../../packages/autoscaler-grpc/src/testing/served-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { shortLeases } from "../harness/short-leases.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 90_000;
const ref = { namespace: "default", name: "pool" };
const id = "default/pool";

interface Node extends KubeObject {
  readonly spec?: { readonly providerID?: string };
}

/** A leader and a standby with the flags of the chart; `test/system/cluster-autoscaler.test.ts` has more scenarios. */
describe("the endpoint of the cluster autoscaler on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let folder: string;
  const processes: MillwrightProcess[] = [];
  const clients: AutoscalerClient[] = [];
  const [server, client] = [1, 2].map(() => selfSignedCertificate(systemClock.now()));
  if (server === undefined || client === undefined) throw new Error("no certificates");

  beforeAll(async () => {
    fleet = await startRealFleet();
    folder = await mkdtemp(join(tmpdir(), "millwright-autoscaler-"));
    await writeFile(join(folder, "tls.crt"), server.cert);
    await writeFile(join(folder, "tls.key"), server.key);
    await writeFile(join(folder, "ca.crt"), client.cert);
    await fleet.api.create(machineClassResource, machineClass("small"));
    const { metadata, ...rest } = machineDeployment("pool", "small", 0);
    const annotations = { [annotationKeys.autoscalerMinSize]: "0", [annotationKeys.autoscalerMaxSize]: "4" };
    await fleet.api.create(machineDeploymentResource, { ...rest, metadata: { ...metadata, annotations } });
  }, REAL_FLEET_MS);
  afterAll(async () => {
    for (const each of clients) each.close();
    await Promise.all(processes.map((process) => process.stop("SIGKILL")));
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const connect = (address: string, ...tls: Parameters<typeof connectAutoscaler>[1][]): AutoscalerClient => {
    const connected = connectAutoscaler(address, ...tls);
    clients.push(connected);
    return connected;
  };
  /** Starts a process, and connects to its endpoint with a certificate. */
  const start = async () => {
    const process = startMillwright([
      "run",
      "--provider=mock",
      `--control-kubeconfig=${fleet.controllersKubeconfig}`,
      "--namespace=default",
      "--port=0",
      ...shortLeases,
      "--autoscaler-address=127.0.0.1:0",
      `--autoscaler-tls-cert=${join(folder, "tls.crt")}`,
      `--autoscaler-tls-key=${join(folder, "tls.key")}`,
      `--autoscaler-tls-client-ca=${join(folder, "ca.crt")}`,
    ]);
    processes.push(process);
    const [, port = ""] = await process.waitFor(
      /"address":"127.0.0.1:(\d+)"[^\n]*Serving the cluster autoscaler/,
      LONG,
    );
    const address = `localhost:${port}`;
    const calls = connect(address, { ca: server.cert, ...client });
    await eventually(() => calls.call("Refresh", {}), LONG);
    return { process, address, call: calls.call.bind(calls) };
  };
  const size = async (): Promise<number | undefined> =>
    (await fleet.api.get<MachineDeployment>(machineDeploymentResource, ref)).spec.replicas;
  const nodes = async () =>
    (await fleet.api.list<Node>(nodeResource)).items.map(({ metadata, spec }) => ({
      name: metadata.name ?? "",
      providerID: spec?.providerID ?? "",
      labels: metadata.labels ?? {},
      annotations: metadata.annotations ?? {},
    }));
  const untilJoined = (count: number): Promise<void> =>
    eventually(async () => {
      const machines = await fleet.machines();
      const about = JSON.stringify({ size: await size(), machines: machines.map(({ metadata }) => metadata) });
      expect(machines.map(phaseOf), about).toEqual(Array.from({ length: count }, () => "Running"));
      expect(await nodes()).toHaveLength(count);
    }, LONG);

  it("scales from zero, answers on the standby as on the leader, and deletes a node once: in two calls at once, and in a call that is repeated after the leader was killed", async () => {
    const leader = await start();
    await leader.process.waitFor(/"Leading"/, LONG);
    const standby = await start();
    // Who has no certificate of the authority is refused, in plain text as well.
    for (const tls of [undefined, { ca: server.cert, cert: server.cert, key: server.key }])
      await expect(connect(leader.address, tls).call("NodeGroups", {})).rejects.toMatchObject({ code: 14 });

    const template = await eventually(() => leader.call("NodeGroupTemplateNodeInfo", { id }), LONG);
    expect(Buffer.from(template.nodeBytes).toString("latin1")).toContain("node.kubernetes.io/instance-type");
    await standby.call("NodeGroupIncreaseSize", { id, delta: 4 });
    await expect(leader.call("NodeGroupIncreaseSize", { id, delta: 1 })).rejects.toMatchObject({ code: 11 });
    await untilJoined(4);
    for (const { call } of [leader, standby])
      await eventually(async () => {
        expect(await call("NodeGroups", {})).toMatchObject({ nodeGroups: [{ id, minSize: 0, maxSize: 4 }] });
        expect(await call("NodeGroupTargetSize", { id })).toEqual({ targetSize: 4 });
        expect((await call("NodeGroupNodes", { id })).instances).toHaveLength(4);
      }, LONG);

    const [first, second, ...rest] = await nodes();
    if (first === undefined || second === undefined) throw new Error("no nodes");
    // Both see the same machine in their caches: the write of one is a conflict, and it reads again.
    await Promise.all([leader, standby].map(({ call }) => call("NodeGroupDeleteNodes", { id, nodes: [first] })));
    expect(await size()).toBe(3);

    const request = { id, nodes: [second] };
    await eventually(() => leader.call("NodeGroupDeleteNodes", request), LONG);
    await leader.process.stop("SIGKILL");
    const repeated = await standby.call("NodeGroupDeleteNodes", request).then(() => "OK", messageOf);
    expect(repeated).toMatch(/^OK$|belongs to no Machine/);
    await standby.process.waitFor(/"Leading"/, LONG);
    await untilJoined(2);
    expect(await size()).toBe(2);
    expect((await nodes()).map(({ name }) => name).toSorted()).toEqual(rest.map(({ name }) => name).toSorted());
    expect(fleet.cloud.vms()).toHaveLength(2);
  });
});
