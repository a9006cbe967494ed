import { X509Certificate } from "node:crypto";
import { get } from "node:https";
import { systemClock } from "@millwright/base";
import { expect, it } from "vitest";
import { createEmulatorServer } from "./emulator-server.ts";
import { selfSignedCertificate } from "./self-signed-certificate.ts";

it("a self-signed certificate is valid for TLS on the loopback address only", async () => {
  const tls = selfSignedCertificate(systemClock.now());
  const certificate = new X509Certificate(tls.cert);
  expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(certificate.checkHost("example.com")).toBeUndefined();
  expect(certificate.verify(certificate.publicKey)).toBe(true);

  const server = createEmulatorServer(
    {
      identify: () => ({ operation: "get", subjects: [] }),
      answer: () => ({ status: 204, body: "" }),
      refuse: () => ({ status: 400, body: "" }),
      throttled: { code: "SlowDown" },
    },
    { tls },
  );
  const { url } = await server.listen();
  const status = (ca?: string) =>
    new Promise<number | string>((resolve) => {
      get(url, { ...(ca === undefined ? {} : { ca }), agent: false }, (response) =>
        resolve(response.statusCode ?? 0),
      ).on("error", (error) => resolve(error.message));
    });
  expect(await status(tls.cert)).toBe(204);
  expect(await status()).toMatch(/self-signed/);
  await server.close();
});
