import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type CertificateChain, createCertificateChain } from "../harness/certificate-chain.ts";

/** Lists VMs in an emulated cloud that serves with these certificates. */
type ListVms = (tls: { readonly key: string; readonly cert: string }) => Promise<unknown>;

const listOnAws: ListVms = async (tls) => {
  const { aCloud, aContext, aRequest } = await import("../../providers/aws/src/testing/aws-cloud.ts");
  return (await aCloud({ tls })).driver.listMachines?.(aRequest(), aContext());
};

const listOnAzure: ListVms = async (tls) => {
  const { aCloud, aContext, aRequest } = await import("../../providers/azure/src/testing/azure-cloud.ts");
  return (await aCloud({ tls }, { ca: "" })).driver.listMachines?.(aRequest(), aContext());
};

const listOnGcp: ListVms = async (tls) => {
  const { aCloud, aContext, aRequest } = await import("../../providers/gcp/src/testing/gcp-cloud.ts");
  return (await aCloud({ tls })).driver.listMachines?.(aRequest(), aContext());
};

/** By Google's own library, which reads the file. */
const listOnGcpByFile: ListVms = async (tls) => {
  const { aCloud, aContext, aMachine, aRequest } = await import("../../providers/gcp/src/testing/gcp-cloud.ts");
  const { audience, workloadIdentity } = await import("../../providers/gcp/src/testing/workload-identity.ts");
  const { driver, url } = await aCloud({ tls, workloadIdentities: { [audience]: "subject" } });
  const folder = await aFolder();
  await writeFile(join(folder, "token"), "subject");
  const source = { file: join(folder, "token") };
  const content = { ...workloadIdentity, token_url: `${url}/v1/token`, credential_source: source };
  await writeFile(join(folder, "credentials"), JSON.stringify(content));
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", join(folder, "credentials"));
  const secret = { useDefaultCredentialChain: "true", projectID: "my-project", userData: "u" };
  return driver.listMachines?.(aRequest(aMachine("m"), {}, secret), aContext());
};

async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "cloud-authorities-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** As an installation whose clouds are behind a firewall that opens TLS, or which has private endpoints. */
describe.each([
  ["AWS", listOnAws],
  ["Azure", listOnAzure],
  ["GCP", listOnGcp],
  ["GCP, with a file of credentials", listOnGcpByFile],
])("a cloud whose certificate an intermediate authority has signed: %s", (_, list) => {
  let chain: CertificateChain;
  beforeAll(async () => {
    chain = await createCertificateChain();
    // Node reads those of the system once, and the variables with them.
    getCACertificates("system");
  });

  it.each(["SSL_CERT_FILE", "SSL_CERT_DIR", "Node's own store", "nothing"])(
    "is trusted as by the client of the API server, with that authority alone in %s",
    async (place) => {
      const authorities = join(await aFolder(), "authorities");
      await mkdir(authorities);
      const file = join(authorities, "any-name");
      await writeFile(file, chain.intermediate);
      vi.stubEnv("SSL_CERT_FILE", place === "SSL_CERT_FILE" ? file : "");
      vi.stubEnv("SSL_CERT_DIR", place === "SSL_CERT_DIR" ? authorities : "");
      onTestFinished(() => void vi.unstubAllEnvs());
      if (place === "Node's own store") {
        const before = getCACertificates();
        setDefaultCACertificates([...before, chain.intermediate]);
        onTestFinished(() => setDefaultCACertificates(before));
      }
      // They are read once in a process.
      vi.resetModules();
      const outcome = await list({ key: chain.key, cert: chain.presented }).then(() => "trusted", String);
      expect(outcome).toMatch(place === "nothing" ? /Unavailable|certificate/ : /^trusted$/);
    },
  );
});
