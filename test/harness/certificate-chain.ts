// The library reads it when it is loaded.
// oxlint-disable-next-line import/no-unassigned-import
import "reflect-metadata";
import * as x509 from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const { subtle } = globalThis.crypto;

const generateKeys = () => subtle.generateKey(algorithm, true, ["sign", "verify"]);

/** When certificates are valid; by default from now on, for a year. */
interface Validity {
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** A certificate with the keys that it is for. */
interface Certified {
  readonly certificate: x509.X509Certificate;
  readonly keys: Awaited<ReturnType<typeof generateKeys>>;
}

async function certify(name: string, issuer: Certified | undefined, validity: Validity): Promise<Certified> {
  const keys = await generateKeys();
  const isAuthority = name.endsWith("authority");
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: issuer?.certificate.subject ?? `CN=${name}`,
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: algorithm,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(isAuthority, undefined, true),
      new x509.SubjectAlternativeNameExtension([
        { type: "dns", value: "localhost" },
        { type: "ip", value: "127.0.0.1" },
      ]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create((issuer?.keys ?? keys).publicKey),
    ],
  });
  return { certificate, keys };
}

/** Certificates in PEM, each signed by the one before it. */
export interface CertificateChain {
  readonly root: string;
  readonly intermediate: string;
  readonly server: string;
  /** What a server presents: its certificate, and the intermediate one. */
  readonly presented: string;
  readonly key: string;
}

/** Makes the certificates of a server of 127.0.0.1 whose authority is not a root, as those of Rancher, OpenShift, and kubeadm with an outside authority. */
export async function createCertificateChain(validity: Validity = {}): Promise<CertificateChain> {
  const root = await certify("root authority", undefined, validity);
  const intermediate = await certify("intermediate authority", root, validity);
  const server = await certify("server", intermediate, validity);
  const [rootPem, intermediatePem, serverPem] = [root, intermediate, server].map(({ certificate }) =>
    certificate.toString("pem"),
  );
  const pkcs8 = await subtle.exportKey("pkcs8", server.keys.privateKey);
  return {
    root: `${rootPem}\n`,
    intermediate: `${intermediatePem}\n`,
    server: `${serverPem}\n`,
    presented: `${serverPem}\n${intermediatePem}\n`,
    key: x509.PemConverter.encode(pkcs8, "PRIVATE KEY"),
  };
}
