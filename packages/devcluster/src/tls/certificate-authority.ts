/** A certificate with its key, both in PEM. */
export interface Credentials {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** The user of a client certificate: its common name is the user, its organizations are the groups. */
export interface CertificateUser {
  readonly user: string;
  readonly groups?: readonly string[];
}

/** A certificate authority that lives as long as its server: its key is only in this process. */
export interface CertificateAuthority {
  /** The certificate that clients must trust. */
  readonly certificatePem: string;
  /** Credentials of the server, for its names and loopback addresses. */
  issueServer(): Promise<Credentials>;
  /** Client credentials of a user. Throws a RangeError for a user without a name. */
  issueClient(user: CertificateUser): Promise<Credentials>;
}

const dayMs = 86_400_000;
const lifetimeMs = 3650 * dayMs;

/** The names and addresses by which clients may reach the server. */
const dnsNames = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
const addresses = ["127.0.0.1", "::1"];

/**
 * Creates a certificate authority: ECDSA on P-256. Its certificates are valid for ten years, from a day ago for peers with
 * skewed clocks.
 */
export async function createCertificateAuthority(now: Date): Promise<CertificateAuthority> {
  // Loaded on demand: the library and its metadata polyfill would cost every start 100 ms.
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

  const issue = async (
    subject: ConstructorParameters<typeof x509.Name>[0],
    usage: string,
    alternatives: readonly { readonly type: "dns" | "ip"; readonly value: string }[],
  ): Promise<Credentials> => {
    const keys = await subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const certificate = await x509.X509CertificateGenerator.create({
      subject: new x509.Name(subject).toString(),
      issuer: authority.subject,
      publicKey: keys.publicKey,
      signingKey: authorityKeys.privateKey,
      signingAlgorithm,
      ...validity,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usage]),
        ...(alternatives.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension([...alternatives])]),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
      ],
    });
    const pkcs8 = await subtle.exportKey("pkcs8", keys.privateKey);
    return { certificatePem: certificate.toString("pem"), keyPem: x509.PemConverter.encode(pkcs8, "PRIVATE KEY") };
  };

  return {
    certificatePem: authority.toString("pem"),
    issueServer: () =>
      issue([{ CN: ["kube-apiserver"] }], x509.ExtendedKeyUsage.serverAuth, [
        ...dnsNames.map((value) => ({ type: "dns" as const, value })),
        ...addresses.map((value) => ({ type: "ip" as const, value })),
      ]),
    issueClient({ user, groups = [] }) {
      if (user === "") throw new RangeError("a client certificate requires a user name");
      const organizations = groups.map((group) => ({ O: [group] }));
      return issue([...organizations, { CN: [user] }], x509.ExtendedKeyUsage.clientAuth, []);
    },
  };
}
