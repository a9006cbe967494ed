import { fileURLToPath } from "node:url";
import { machineClassResource, machineResource } from "@millwright/core/machine-api";
import { leaseResource } from "@millwright/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { type Installation, machineClass, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { shortLeases } from "../harness/short-leases.ts";

const driver = fileURLToPath(new URL("stuck-driver.ts", import.meta.url));
const namespace = "default";

let installation: Installation;
let millwright: MillwrightProcess;
let base = "";
beforeEach(async () => {
  installation = await startInstallation();
});
afterEach(async () => {
  await millwright.stop("SIGKILL");
  await installation.close();
});

/** Starts controllers whose driver gets the provider spec, and waits until they lead. */
async function start(providerSpec: object, flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const { api, controllersKubeconfig } = installation;
  const [port = 0] = await freePorts(1);
  base = `http://127.0.0.1:${port}`;
  await api.create(machineClassResource, { ...machineClass("stuck"), provider: "stuck", providerSpec });
  const args = [
    "run",
    `--provider-in-process=${driver}`,
    `--control-kubeconfig=${controllersKubeconfig}`,
    `--port=${port}`,
    ...shortLeases,
  ];
  millwright = startMillwright([...args, ...flags], env);
  await millwright.waitFor(/"msg":"Leading"/);
  await expect.poll(() => read("/readyz")).toBe("200 OK");
  await api.create(machineResource, {
    metadata: { name: "victim", namespace },
    spec: { class: { kind: "MachineClass", name: "stuck" } },
  });
}

const read = async (path: string): Promise<string> => {
  const response = await fetch(`${base}${path}`);
  return `${response.status} ${await response.text()}`;
};
const holders = async (): Promise<readonly string[]> => {
  const { items } = await installation.api.list(leaseResource, { namespace });
  return items.map(({ spec }) => /"holderIdentity":"([^"]*)"/.exec(JSON.stringify(spec))?.[1] ?? "");
};
/** The fields of the first log line with the message. */
const logged = async (message: string): Promise<Readonly<Record<string, unknown>>> => {
  await millwright.waitFor(new RegExp(`"msg":"${message}`), 120_000);
  const line =
    millwright
      .output()
      .split("\n")
      .find((text) => text.includes(`"msg":"${message}`)) ?? "";
  return JSON.parse(line);
};

it("answers probes while a driver blocks the event loop, names its call, and is ready again afterwards", async () => {
  await start({ blockMs: 12_000 }, []);
  const line = await logged("The event loop is blocked");
  expect(line["lastCall"]).toBe('createMachine of driver "stuck" for victim');
  expect(await read("/healthz")).toBe("200 OK");
  expect(await read("/readyz")).toMatch(/^503 the event loop has been blocked for \d+ s\n/);
  expect(await read("/metrics")).toMatch(/^503 the event loop has been blocked for \d+ s\n$/);
  expect((await logged("The event loop was blocked"))["running"]).toEqual(expect.any(Array));
  await expect.poll(() => read("/readyz")).toBe("200 OK");
  expect(await read("/metrics")).toMatch(/^millwright_event_loop_stall_seconds_bucket\{le="30"\} 1$/m);
  expect(await millwright.stop("SIGTERM")).toBe(0);
});

it("releases its leases and is killed when a driver blocks the event loop for ever", async () => {
  await start({ blockMs: 1e9 }, ["--watchdog-stall-timeout=6s"]);
  await expect.poll(() => read("/healthz"), { timeout: 60_000 }).toMatch(/^503 the event loop has been blocked/);
  await expect.poll(holders, { timeout: 60_000 }).toEqual(["", ""]);
  expect(await millwright.ended).toBe(128);
  expect(await logged("The event loop is blocked for too long")).toMatchObject({
    level: "error",
    lastCall: 'createMachine of driver "stuck" for victim',
  });
});

it("ends with status 1 and without leases when a call of a driver never ends and ignores its signal", async () => {
  await start({ hangs: true }, ["--watchdog-stuck-timeout=10s"]);
  await expect
    .poll(() => read("/readyz"), { timeout: 60_000 })
    .toMatch(/^503 The driver call createMachine of driver "stuck" for victim has not ended after \d+ s/);
  expect(await read("/healthz")).toBe("200 OK");
  expect(await read("/metrics")).toMatch(/^millwright_watchdog_problems\{kind="operation"\} 1$/m);
  expect(await millwright.ended).toBe(1);
  expect(await logged("The process is restarted")).toMatchObject({
    because: expect.stringContaining("createMachine of driver"),
  });
  expect(await holders()).toEqual(["", ""]);
});

it("ends with status 1 and without leases when a driver leaks memory, before the engine aborts the process", async () => {
  await start({ leaks: true }, ["--watchdog-memory-limit=60%"], { NODE_OPTIONS: "--max-old-space-size=512" });
  await expect
    .poll(() => read("/readyz"), { timeout: 100_000 })
    .toMatch(/^503 \d+% of the memory of the heap is in use; the limit is 60%\n$/);
  expect(await millwright.ended).toBe(1);
  expect(await logged("The process is restarted")).toMatchObject({
    because: expect.stringContaining("of the heap"),
    objects: expect.arrayContaining(["machines 1"]),
  });
  expect(await holders()).toEqual(["", ""]);
});
