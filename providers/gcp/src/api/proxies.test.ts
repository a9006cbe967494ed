import { startRecordingProxy, type RecordingProxyOptions } from "@millwright/core/testing";
import { selfSignedCertificate, trustCertificate } from "@millwright/emulators/server";
import { expect, onTestFinished, test } from "vitest";
import { createGcpDriver } from "../driver.ts";
import {
  aCloud,
  aContext,
  aMachine,
  aRequest,
  failureOf,
  plainAccount,
  plainSecret,
  secretWith,
} from "../testing/gcp-cloud.ts";
import { audience, impersonation, workloadIdentity } from "../testing/workload-identity.ts";

const services = ["compute", "oauth2", "sts", "iamcredentials"];
const domains = ["googleapis.com", "cloud.example.eu"];
const hosts = domains.flatMap((domain) => services.map((service) => `${service}.${domain}`));
const tls = selfSignedCertificate(new Date(), [...hosts, "0.0.0.0"]);

/** An emulated Compute Engine with the names of the real one, which only a proxy finds. */
async function aCloudBehindProxy(options: RecordingProxyOptions = {}) {
  onTestFinished(trustCertificate(tls.cert));
  const { gce, url } = await aCloud({ tls, workloadIdentities: { [audience]: "token-of-pod" } });
  const proxy = await startRecordingProxy({ forward: () => new URL(url).host, ...options });
  onTestFinished(() => proxy.close());
  return { gce, url, proxy };
}

test.each(domains)("requests and those for tokens go through the proxy of the environment: %s", async (domain) => {
  const { gce, proxy } = await aCloudBehindProxy({ credentials: "me:pr0xyKey" });
  const account = { ...plainAccount, universe_domain: domain, token_uri: `https://oauth2.${domain}/token` };
  const env = { HTTPS_PROXY: proxy.url.replace("//", "//me:pr0xyKey@") };
  const driver = createGcpDriver({ env, pollTimes: { lookAgainMs: 30, pollMs: 10 } });
  await driver.createMachine(aRequest(aMachine("m"), {}, secretWith(account)), aContext());
  expect(new Set(proxy.tunnels.map(({ target }) => target))).toEqual(
    new Set([`oauth2.${domain}:443`, `compute.${domain}:443`]),
  );
  expect(gce.inventory().instances).toHaveLength(1);
});

test("requests for tokens of a workload identity go through the proxy of the environment", async () => {
  const { proxy } = await aCloudBehindProxy();
  const secret = secretWith({ ...workloadIdentity, service_account_impersonation_url: impersonation });
  const driver = createGcpDriver({
    env: { HTTPS_PROXY: proxy.url },
    readTokenFile: () => Promise.resolve("token-of-pod"),
  });
  await driver.listMachines?.(aRequest(aMachine("m"), {}, secret), aContext());
  expect(proxy.tunnels.map(({ target }) => target)).toEqual(
    expect.arrayContaining([
      "sts.googleapis.com:443",
      "iamcredentials.googleapis.com:443",
      "compute.googleapis.com:443",
    ]),
  );
});

test("requests go past the proxy where NO_PROXY names the endpoint", async () => {
  const { url, proxy } = await aCloudBehindProxy();
  // No loopback address, to the eye of Go; and yet it leads to this machine.
  const endpoint = `https://0.0.0.0:${new URL(url).port}`;
  const env = { HTTPS_PROXY: proxy.url };
  const request = aRequest(aMachine("m"), {}, plainSecret);
  const past = createGcpDriver({ endpoint, env: { ...env, NO_PROXY: "0.0.0.0" } });
  await past.listMachines?.(request, aContext());
  expect(proxy.tunnels).toEqual([]);
  await createGcpDriver({ endpoint, env }).listMachines?.(request, aContext());
  expect(proxy.tunnels.length).toBeGreaterThan(0);
});

test.each([407, 502])("a proxy that answers %s is named in the error, without its password", async (refuse) => {
  const { proxy } = await aCloudBehindProxy({ refuse });
  const env = { HTTPS_PROXY: proxy.url.replace("//", "//me:pr0xyKey@") };
  const failure = await failureOf(createGcpDriver({ env }).getMachineStatus(aRequest(), aContext()));
  expect(failure).toMatchObject({ code: "Unavailable" });
  expect(String(failure)).toContain(`proxy ${proxy.url} responded with ${refuse} to CONNECT oauth2.googleapis.com:443`);
  expect(String(failure)).not.toContain("pr0xyKey");
});
