/**
 * Traces of a whole `millwright run`, as a real OpenTelemetry Collector receives them. `npm run control-plane -- build otel-collector` builds it; without it these tests
 * are skipped.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logKeys } from "@millwright/base";
import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { attributesOf, batchesOf, hasCollector, spanSchema, spansOf, startCollector } from "../harness/collector.ts";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import type { Program } from "../harness/program.ts";
import { type RunningWorkloads, startWorkloads } from "../harness/workloads.ts";

const namespace = "default";
let folder = "";
let port = 0;
let installation: Installation;
let collector: Program | undefined;
let workloads: RunningWorkloads | undefined;
const started: MillwrightProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "traces-"));
  [port = 0] = await freePorts(1);
  installation = await startInstallation({ bootDelayMs: 2_000 });
});
afterEach(async () => {
  await workloads?.close();
  workloads = undefined;
  const programs = [...started.splice(0), ...(collector === undefined ? [] : [collector])];
  await Promise.all(programs.map((program) => program.stop("SIGKILL")));
  await installation.close();
  await rm(folder, { recursive: true });
});

const receive = async (): Promise<Program> => (collector = await startCollector(folder, port));

const run = (env: NodeJS.ProcessEnv, ...flags: readonly string[]): MillwrightProcess => {
  const { controllersKubeconfig } = installation;
  const process = startMillwright(
    ["run", "--provider=mock", "--no-leader-elect", `--control-kubeconfig=${controllersKubeconfig}`, ...flags],
    env,
  );
  started.push(process);
  return process;
};

const declare = async (replicas: number): Promise<void> => {
  const { api } = installation;
  await api.create(machineClassResource, machineClass("small"));
  await api.create(machineDeploymentResource, machineDeployment("pool", "small", replicas));
};
const untilPhase = async (phase: string, count: number): Promise<void> =>
  eventually(async () => {
    const machines = await installation.machines();
    expect(machines.map(({ status }) => status?.currentStatus?.phase)).toEqual(
      Array.from({ length: count }, () => phase),
    );
  });

describe.skipIf(!hasCollector)("traces (where the collector was built)", () => {
  it("show a machine from its creation until it runs, and from its deletion until it is gone", async () => {
    const received = await receive();
    const millwright = run(
      { OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test" },
      `--tracing-endpoint=http://127.0.0.1:${port}`,
      "--log-level=debug",
    );
    await declare(2);
    await untilPhase("Running", 2);
    const machines = await installation.machines();
    // Draining is a step of its own only where there are pods to evict.
    const { deploy, podsOn } = (workloads = startWorkloads(installation.api));
    await deploy("web", 2);
    for (const { metadata } of machines)
      await eventually(async () => expect(await podsOn(metadata.labels?.["node"] ?? "")).toHaveLength(1));
    await installation.api.delete(machineDeploymentResource, { namespace, name: "pool" });
    await eventually(async () => expect(await installation.machines()).toEqual([]));
    expect(await millwright.stop("SIGTERM")).toBe(0);

    const spans = spansOf(received);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(4);
    for (const { metadata, spec } of machines)
      for (const [trace, calls] of [
        ["create", ["getMachineStatus", "createMachine"]],
        ["delete", ["deleteMachine"]],
      ] as const) {
        const [root, ...others] = spans.filter(
          (span) => span.name === `${trace} machine` && attributesOf(span)["millwright.machine.uid"] === metadata.uid,
        );
        expect(others).toEqual([]);
        expect(root).toMatchObject({ parentSpanId: "", status: { code: 0 } });
        const parts = spans.filter(({ traceId, spanId }) => traceId === root?.traceId && spanId !== root?.spanId);
        const names = parts.map(({ name }) => name);
        expect(names).toEqual(expect.arrayContaining([...calls]));
        expect(names).toEqual(
          expect.arrayContaining(trace === "create" ? ["Requested", "Pending"] : ["Drain", "DeleteVm"]),
        );
        for (const part of parts) {
          expect(part.parentSpanId).toBe(root?.spanId);
          expect(part.endTimeUnixNano).toBeGreaterThanOrEqual(part.startTimeUnixNano);
          expect(part.startTimeUnixNano).toBeGreaterThanOrEqual(root?.startTimeUnixNano ?? 0);
          expect(part.status.code, part.name).toBe(0);
        }
        expect(attributesOf(root ?? spanSchema.parse({}))).toMatchObject({
          "k8s.namespace.name": namespace,
          "millwright.machine.name": metadata.name,
          "millwright.machine_class.name": "small",
          "millwright.vm.provider_id": spec.providerID,
        });
        const call = parts.find(({ name }) => name === calls.at(-1));
        expect(call && attributesOf(call)).toMatchObject({
          "rpc.method": calls.at(-1),
          "millwright.driver.name": "mock",
        });
      }
    const resources = JSON.stringify(batchesOf(received).map(({ resource }) => resource));
    expect(resources).toContain('"service.name"');
    expect(resources).toContain('"deployment.environment.name"');

    const lines = millwright.output().trim().split("\n");
    const keys = new Set(
      lines.flatMap((line) => Object.keys(z.record(z.string(), z.unknown()).parse(JSON.parse(line)))),
    );
    expect([...keys].filter((key) => !Object.hasOwn(logKeys, key))).toEqual([]);
    expect(keys).toContain("method");
  });

  it("go on in the same trace when another process takes over", async () => {
    const received = await receive();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    const first = run(env);
    await declare(1);
    await untilPhase("Pending", 1);
    expect(await first.stop("SIGTERM")).toBe(0);
    const before = spansOf(received);
    expect(before.map(({ name }) => name)).toContain("createMachine");
    const second = run(env);
    await untilPhase("Running", 1);
    expect(await second.stop("SIGTERM")).toBe(0);
    const [machine] = await installation.machines();
    const spans = spansOf(received);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const root = spans.find(({ name }) => name === "create machine");
    expect(root?.startTimeUnixNano).toBe(Date.parse(machine?.metadata.creationTimestamp ?? "") * 1e6);
    expect(before.every(({ parentSpanId }) => parentSpanId === root?.spanId)).toBe(true);
  });
});

it("a collector that is not there stops nothing, and is logged once", async () => {
  const millwright = run({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  await declare(1);
  await untilPhase("Running", 1);
  await millwright.waitFor(/"error":"[^"\n]*ECONNREFUSED[^\n]*Failed to send traces/, 60_000);
  expect(await millwright.stop("SIGTERM")).toBe(0);
  expect(millwright.output().match(/Failed to send traces/g)).toHaveLength(1);
});
