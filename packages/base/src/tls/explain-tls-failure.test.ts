import { expect, test } from "vitest";
import { explainTlsFailure } from "./explain-tls-failure.ts";

const explained =
  "no authority of the file ca.pem has signed the certificate of the server; add the certificate of its authority there";

test.each([
  ["unable to verify the first certificate", explained],
  [
    "unable to get local issuer certificate; if the root CA is installed locally, try running Node.js with --use-system-ca",
    explained,
  ],
  [
    "Last error: self-signed certificate in certificate chain; if the root CA is installed locally, try running Node.js with --use-system-ca. Again",
    `Last error: ${explained}. Again`,
  ],
  ["certificate has expired", "the certificate of the server or of its authority has expired; renew it"],
  ["connect ECONNREFUSED 127.0.0.1:1", "connect ECONNREFUSED 127.0.0.1:1"],
])("%s", (message, expected) => {
  expect(explainTlsFailure(message, "the file ca.pem")).toBe(expected);
});
