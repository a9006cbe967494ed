import { afterEach, expect, it } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";

let installation: Installation | undefined;
let started: MillwrightProcess | undefined;
afterEach(async () => {
  await started?.stop("SIGKILL");
  await installation?.close();
  started = undefined;
  installation = undefined;
});

it("runs with the flags of MCM's programs, and answers their probe and their scrape", { timeout: 60_000 }, async () => {
  installation = await startInstallation();
  const [port = 0] = await freePorts(1);
  await installation.api.create(machineClassResource, machineClass("small"));
  await installation.api.create(machineDeploymentResource, machineDeployment("workers", "small", 1));

  const millwright = startMillwright([
    "run",
    "--provider=mock",
    // One kubeconfig: as for MCM, machines are declared in the target cluster when nothing else is named.
    `--target-kubeconfig=${installation.controllersKubeconfig}`,
    "--namespace=default",
    `--port=${port}`,
    "--machine-creation-timeout=20m",
    "--machine-safety-apiserver-statuscheck-timeout=30s",
    "--machine-safety-apiserver-statuscheck-period=1m",
    "--machine-safety-overshooting-period=1m",
    "--safety-up=2",
    "--safety-down=1",
    "--concurrent-syncs=30",
    "--kube-api-qps=150",
    "--kube-api-burst=200",
    "--leader-elect=true",
    "--v=3",
  ]);
  started = millwright;

  await millwright.waitFor(/"msg":"Leading"/);
  expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()).toBe("OK");
  await eventually(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toMatch(/^mcm_machine_current_status_phase\{.*\} 1$/m);
  });
  const ignored = [...millwright.output().matchAll(/"flag":"(--[a-z-]+)","because":"[^"]+","msg":"Flag has no/g)];
  expect(ignored.map(([, flag]) => flag)).toEqual([
    "--kube-api-burst",
    "--kube-api-qps",
    "--machine-safety-apiserver-statuscheck-period",
    "--machine-safety-overshooting-period",
  ]);
  expect(await millwright.stop("SIGTERM")).toBe(0);
});

it("names a port that is in use in one line", async () => {
  installation = await startInstallation();
  const port = new URL(installation.url).port;
  const millwright = startMillwright([
    "run",
    "--provider=mock",
    "--leader-elect=false",
    `--control-kubeconfig=${installation.controllersKubeconfig}`,
    "--address=127.0.0.1",
    `--port=${port}`,
  ]);
  started = millwright;
  expect(await millwright.ended).toBe(1);
  // Drivers are loaded before, and logged.
  const lines = millwright.output().split("\n");
  expect(lines.filter((line) => !line.startsWith('{"level":"info",'))).toEqual([
    `millwright: --port: ${port} of 127.0.0.1 is in use; choose another port`,
    "",
  ]);
});
