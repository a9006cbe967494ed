import { isConfigError } from "@millwright/base";
import type { Log } from "@millwright/kube";
import { expect, test, vi } from "vitest";
import { openTracing } from "./open-tracing.ts";

type Start = (typeof import("@millwright/tracing"))["startTracing"];

const tracing = { changed: () => undefined, called: () => undefined, close: () => Promise.resolve() };

function setUp() {
  const startTracing = vi.fn<Start>(() => tracing);
  const load = vi.fn<() => Promise<{ startTracing: Start }>>(async () => ({ startTracing }));
  const log = vi.fn<Log>();
  const open = (env: NodeJS.ProcessEnv, tracingEndpoint?: string) =>
    openTracing(tracingEndpoint === undefined ? {} : { tracingEndpoint }, { log, version: "1", env }, load);
  return { startTracing, load, log, open };
}
const missing = Object.assign(new Error("Cannot find package '@millwright/tracing'"), { code: "ERR_MODULE_NOT_FOUND" });

test.each([
  {},
  { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
  { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", OTEL_SDK_DISABLED: "true" },
  { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", OTEL_TRACES_EXPORTER: "none" },
])("with %j, nothing is sent and the package is not loaded", async (env) => {
  const { load, open } = setUp();
  expect(await open(env)).toBeUndefined();
  expect(load).not.toHaveBeenCalled();
});

test("traces are sent where the environment names a collector", async () => {
  for (const name of ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]) {
    const { startTracing, open } = setUp();
    expect(await open({ [name]: "http://c:4318" })).toBe(tracing);
    expect(startTracing.mock.calls[0]?.[0]).not.toHaveProperty("endpoint");
  }
});

test("the flag goes before the environment", async () => {
  const { startTracing, open } = setUp();
  expect(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318" }, "http://flag:4318")).toBe(tracing);
  expect(startTracing.mock.calls[0]?.[0]).toMatchObject({ endpoint: "http://flag:4318" });
});

test("a missing package is an error in one line with the flag, and a log line with the environment", async () => {
  const { load, log, open } = setUp();
  load.mockRejectedValue(missing);
  const opening = open({}, "http://flag:4318");
  await expect(opening).rejects.toSatisfy(isConfigError);
  await expect(opening).rejects.toThrow(
    /^--tracing-endpoint: traces need a package: npm install @millwright\/tracing$/,
  );
  expect(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318" })).toBeUndefined();
  expect(log.mock.calls).toEqual([
    ["warn", "No traces are sent", { because: "traces need a package: npm install @millwright/tracing" }],
  ]);
});

test("another failure of the package is not hidden", async () => {
  const { load, open } = setUp();
  load.mockRejectedValue(new Error("broken"));
  await expect(open({}, "http://flag:4318")).rejects.toThrow("broken");
});
