import type { Log } from "@millwright/kube";
import { expect, test, vi } from "vitest";
import { readAutoscalerTls, runAutoscalerEndpoint } from "./open-autoscaler.ts";

const loopback = { address: "127.0.0.1", port: 0 };
const files = { autoscalerTlsCert: "c", autoscalerTlsKey: "k", autoscalerTlsClientCa: "ca" };
const unused = () => Promise.reject(new Error("nothing is requested"));
const control = { get: unused, patch: unused };
const manager = { fleets: () => [], ready: () => Promise.resolve() };

test("an address that is not loopback requires all files of TLS", () => {
  const all = { cert: "c", key: "k", clientCa: "ca" };
  expect(readAutoscalerTls({})).toBeUndefined();
  expect(readAutoscalerTls({ autoscalerAddress: loopback })).toBeUndefined();
  expect(readAutoscalerTls({ autoscalerAddress: { address: "::1", port: 0 } })).toBeUndefined();
  expect(readAutoscalerTls({ autoscalerAddress: { address: "0.0.0.0", port: 1 }, ...files })).toEqual(all);
  expect(() => readAutoscalerTls({ autoscalerAddress: { address: "0.0.0.0", port: 1 } })).toThrow(
    /0\.0\.0\.0 is not a loopback address and requires --autoscaler-tls-cert/,
  );
  expect(() => readAutoscalerTls({ autoscalerAddress: loopback, autoscalerTlsCert: "c" })).toThrow(
    /use all of them, or none/,
  );
});

test("nothing is served without the flag", async () => {
  const log = vi.fn<Log>();
  await runAutoscalerEndpoint({}, { manager, control, log }, new AbortController().signal);
  expect(log).not.toHaveBeenCalled();
});

test("a missing file is logged: controllers run without the endpoint", async () => {
  const log = vi.fn<Log>();
  const flags = { autoscalerAddress: loopback, ...files, autoscalerTlsCert: "/nowhere/tls.crt" };
  await runAutoscalerEndpoint(flags, { manager, control, log }, new AbortController().signal);
  expect(log).toHaveBeenLastCalledWith("error", "The cluster autoscaler is not served", {
    error: expect.stringMatching(/^--autoscaler-address: cannot read .*/),
  });
});
