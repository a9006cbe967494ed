import { once } from "node:events";
import { connect } from "node:net";
import { systemClock } from "@millwright/base";
import { expect, onTestFinished, test } from "vitest";
import { createCertificateAuthority } from "../tls/certificate-authority.ts";
import { runServer } from "./listen.ts";

test("a client that sends nothing for a handshake is disconnected", async () => {
  const authority = await createCertificateAuthority(systemClock.now());
  const tls = { ...(await authority.issueServer()), authorityPem: authority.certificatePem };
  const address = { host: "127.0.0.1", port: 0 };
  const { port, stop } = await runServer(address, tls, (_, response) => void response.end(), 50);
  onTestFinished(stop);
  const silent = connect(port, "127.0.0.1");
  silent.on("error", () => undefined);
  await once(silent, "close");
  expect(silent.destroyed).toBe(true);
});
