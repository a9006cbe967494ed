import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { chart, startContainer, writeServiceAccountKubeconfig } from "../harness/chart.ts";
import { eventually } from "../harness/eventually.ts";
import { createHelm, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const release = "controllers";

/** A pod of the chart, as a process under its rights, whose page others than those in the pod can open. */
describe("the dashboard of the Helm chart on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let folder: string;
  let kubectl: ForeignTool;
  let pod: MillwrightProcess | undefined;
  let url = "";

  beforeAll(async () => {
    fleet = await startRealFleet();
    folder = await mkdtemp(join(tmpdir(), "millwright-dashboard-"));
    kubectl = await createKubectl(fleet.kubeconfig);
    const helm = await createHelm(fleet.kubeconfig);
    const [port = 0, dashboard = 0] = await freePorts(2);
    url = `http://127.0.0.1:${dashboard}`;
    const values = `machinesNamespace=default,dashboard.enabled=true,dashboard.address=0.0.0.0,dashboard.port=${dashboard}`;
    await helm(["install", "millwright", chart, "--namespace", release, "--create-namespace", "--set", values]);
    const { url: server, ca } = fleet.plane;
    const kubeconfig = await writeServiceAccountKubeconfig(kubectl, folder, { url: server, ca, namespace: release });
    pod = await startContainer(kubectl, release, { kubeconfig, port });
    await fleet.api.create(machineClassResource, machineClass("small"));
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await untilRunning(2);
    await kubectl(["create", "serviceaccount", "reader"]);
  }, REAL_FLEET_MS);
  afterAll(async () => {
    await pod?.stop("SIGKILL");
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const untilRunning = (count: number): Promise<void> =>
    eventually(async () =>
      expect((await fleet.machines()).filter((machine) => phaseOf(machine) === "Running")).toHaveLength(count),
    );
  const newToken = async (...flags: readonly string[]): Promise<string> =>
    (await kubectl(["create", "token", "reader", ...flags])).trim();
  const ask = async (path: string, token?: string): Promise<Response> =>
    fetch(`${url}${path}`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(20_000),
    });
  const refusalOf = async (token?: string) => {
    const response = await ask("/api/stream", token);
    return `${response.status} ${(await response.text()).trim()}`;
  };

  it("serves its files to all, but no data without a token", async () => {
    expect((await ask("/")).status).toBe(200);
    const response = await ask("/api/stream");
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="millwright"']);
  });

  it("refuses a token that the API server does not know, or that is for another audience", async () => {
    expect(await refusalOf("invented")).toBe("401 the token is not valid");
    expect(await refusalOf(await newToken("--audience=others"))).toBe("401 the token is not valid");
  });

  it("refuses a user who may not get machines", async () => {
    expect(await refusalOf(await newToken())).toBe("403 this user may not get machines in namespace default");
  });

  it("shows machines and their events to a user who may", async () => {
    await kubectl(["create", "role", "reader", "--verb=get", "--resource=machines.machine.sapcloud.io"]);
    await kubectl(["create", "rolebinding", "reader", "--role=reader", "--serviceaccount=default:reader"]);
    const [machine] = await fleet.machines();
    const name = machine?.metadata.name ?? "";
    // A binding takes effect a moment later, and each review holds for a while: another token each time.
    const details = await eventually(async () => {
      const response = await ask(`/api/machines/default/${name}`, await newToken());
      expect(response.status).toBe(200);
      return response.text();
    });
    expect(details).toContain("CreatedVM");
    expect(details).not.toContain("forbidden");

    const stream = await ask("/api/stream", await newToken());
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes(name)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) throw new Error(`the stream ended: ${text}`);
      text += value;
    }
    await reader?.cancel();
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
  });

  it("refuses a token of a service account that was deleted", async () => {
    const token = await newToken();
    await kubectl(["delete", "serviceaccount", "reader"]);
    await eventually(async () => expect(await refusalOf(token)).toBe("401 the token is not valid"));
  });
});
