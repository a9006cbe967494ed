import type { Log } from "@millwright/kube";
import * as runtime from "@millwright/runtime";
import { expect, test, vi } from "vitest";
import { openProfiles } from "./open-profiles.ts";

const flags = { profiling: true, profilingAddress: { address: "127.0.0.1", port: 0 } };

test("profiles are not served unless the flag is set", async () => {
  const serveProfiles = vi.fn<typeof runtime.serveProfiles>();
  expect(
    await openProfiles({ ...flags, profiling: false }, { ...runtime, serveProfiles }, vi.fn<Log>()),
  ).toBeUndefined();
  expect(serveProfiles).not.toHaveBeenCalled();
});

test("an address that is not loopback is refused without a token file", async () => {
  const opening = openProfiles({ ...flags, profilingAddress: { address: "0.0.0.0", port: 0 } }, runtime, vi.fn<Log>());
  await expect(opening).rejects.toThrow("--profiling-token-file");
});

test("a port in use is logged, and stops nothing", async () => {
  const log = vi.fn<Log>();
  const first = await openProfiles(flags, runtime, log);
  const port = Number(String(log.mock.calls[0]?.[2]?.address).split(":")[1]);
  expect(
    await openProfiles({ ...flags, profilingAddress: { address: "127.0.0.1", port } }, runtime, log),
  ).toBeUndefined();
  expect(log).toHaveBeenLastCalledWith("error", "Profiles are not served", {
    error: expect.stringMatching(/^--profiling-address: cannot listen on .*EADDRINUSE/),
  });
  await first?.close();
});
