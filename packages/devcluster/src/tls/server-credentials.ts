/** What an HTTPS server needs, in PEM, and what its clients are to trust. */
export interface ServerCredentials {
  readonly certificatePem: string;
  readonly keyPem: string;
  /** Certificate of the authority that issued the other; its key is gone by now. */
  readonly authorityPem: string;
}

const dayMs = 86_400_000;
const lifetimeMs = 3650 * dayMs;

/** Under which names and addresses clients may look for the server. */
const dnsNames = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
const addresses = ["127.0.0.1", "::1"];

/** TLS of `kube-apiserver` by an authority of its own: ECDSA on P-256, valid from a day ago, for peers whose clocks are off, for ten years. */
export async function issueServerCredentials(now: Date): Promise<ServerCredentials> {
  // Loaded when TLS is asked for: the library, and the metadata that it relies on, cost every start 100 ms otherwise.
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const { subtle } = globalThis.crypto;
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" };
  const validity = { notBefore: new Date(now.getTime() - dayMs), notAfter: new Date(now.getTime() + lifetimeMs) };

  const authorityKeys = await subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=millwright-devcluster",
    keys: authorityKeys,
    signingAlgorithm,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });

  const keys = await subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: "CN=kube-apiserver",
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...dnsNames.map((value) => ({ type: "dns" as const, value })),
        ...addresses.map((value) => ({ type: "ip" as const, value })),
      ]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });
  const pkcs8 = await subtle.exportKey("pkcs8", keys.privateKey);
  return {
    certificatePem: certificate.toString("pem"),
    keyPem: x509.PemConverter.encode(pkcs8, "PRIVATE KEY"),
    authorityPem: authority.toString("pem"),
  };
}
