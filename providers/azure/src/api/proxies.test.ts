import { startRecordingProxy, type RecordingProxyOptions } from "@millwright/core/testing";
import { trustCertificate } from "@millwright/emulators/server";
import { expect, onTestFinished, test } from "vitest";
import { createAzureDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, failureOf } from "../testing/azure-cloud.ts";

/** An emulated Azure with the names of the real one, which only a proxy finds. */
async function aCloudBehindProxy(options: RecordingProxyOptions = {}) {
  const { arm, url } = await aCloud({ hosts: ["management.azure.com", "login.microsoftonline.com", "0.0.0.0"] });
  onTestFinished(trustCertificate(arm.ca));
  const proxy = await startRecordingProxy({ forward: () => new URL(url).host, ...options });
  onTestFinished(() => proxy.close());
  return { arm, url, proxy };
}

test("requests to Resource Manager and for tokens of Entra ID go through the proxy of the environment", async () => {
  const { arm, proxy } = await aCloudBehindProxy({ credentials: "me:pr0xyKey" });
  const env = { HTTPS_PROXY: proxy.url.replace("//", "//me:pr0xyKey@") };
  await createAzureDriver({ env, pollMs: 5 }).createMachine(aRequest(), aContext());
  expect(new Set(proxy.tunnels.map(({ target }) => target))).toEqual(
    new Set(["login.microsoftonline.com:443", "management.azure.com:443"]),
  );
  expect(arm.inventory().vms).toHaveLength(1);
});

test("requests go past the proxy where NO_PROXY names the endpoint", async () => {
  const { url, proxy } = await aCloudBehindProxy();
  // No loopback address, to the eye of Go; and yet it leads to this machine.
  const endpoint = `https://0.0.0.0:${new URL(url).port}`;
  const env = { HTTPS_PROXY: proxy.url };
  const request = aRequest(aMachine("m"));
  await createAzureDriver({ endpoint, pollMs: 5, env: { ...env, NO_PROXY: "0.0.0.0" } }).createMachine(
    request,
    aContext(),
  );
  expect(proxy.tunnels).toEqual([]);
  await createAzureDriver({ endpoint, env }).getMachineStatus(request, aContext());
  expect(proxy.tunnels.length).toBeGreaterThan(0);
});

test.each([407, 502])("a proxy that answers %s is named in the error, without its password", async (refuse) => {
  const { proxy } = await aCloudBehindProxy({ refuse });
  const env = { HTTPS_PROXY: proxy.url.replace("//", "//me:pr0xyKey@") };
  const failure = await failureOf(createAzureDriver({ env }).getMachineStatus(aRequest(), aContext()));
  expect(failure).toMatchObject({ code: "Unavailable" });
  expect(String(failure)).toContain(
    `proxy ${proxy.url} responded with ${refuse} to CONNECT login.microsoftonline.com:443`,
  );
  expect(String(failure)).not.toContain("pr0xyKey");
});
