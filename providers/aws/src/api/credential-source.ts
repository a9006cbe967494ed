import type { EC2ClientConfig } from "@aws-sdk/client-ec2";
import { maxAttempts } from "@millwright/core/driver-kit";
import type { AwsCredentials } from "../spec/secret.ts";
import { type CredentialServer, CredentialsFailure } from "./credentials-failure.ts";

type Credentials = NonNullable<EC2ClientConfig["credentials"]>;
type Provider = Extract<Credentials, (...args: never[]) => unknown>;

/** Where credentials come from that are no keys. */
interface CredentialSource {
  readonly server: CredentialServer;
  readonly load: () => Promise<Provider>;
}

/** Options of {@link credentialsFor}. */
export interface CredentialSourceOptions {
  readonly credentials: AwsCredentials;
  readonly region: string;
  /** Address of STS, for tests. */
  readonly endpoint?: string;
  /** Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Credentials for the SDK, which keeps them and renews them five minutes before they expire. A source that fails throws {@link CredentialsFailure}.
 *
 * Of the environment the first of these counts, in the order of the SDK's own chain: keys or a profile (`AWS_ACCESS_KEY_ID`, `AWS_PROFILE`), a web identity
 * (`AWS_WEB_IDENTITY_TOKEN_FILE`), a container's credentials as of EKS Pod Identity (`AWS_CONTAINER_CREDENTIALS_FULL_URI`), the instance profile (IMDSv2). The chain itself is not used for all of
 * them, since it does not report why the last one failed.
 */
export function credentialsFor(options: CredentialSourceOptions): Credentials {
  const { credentials } = options;
  if (credentials.kind === "static") {
    return { accessKeyId: credentials.accessKeyId, secretAccessKey: credentials.secretAccessKey };
  }
  const source =
    credentials.kind === "webIdentity"
      ? webIdentity(options, {
          tokenFile: 'key "workloadIdentityTokenFile" of the class secret',
          config: { webIdentityTokenFile: credentials.tokenFile, roleArn: credentials.roleArn },
        })
      : environmentSource(options);
  let provider: Provider | undefined;
  return async (identityProperties) => {
    try {
      provider ??= await source.load();
      return await provider(identityProperties);
    } catch (error) {
      throw new CredentialsFailure(source.server, error);
    }
  };
}

function environmentSource(options: CredentialSourceOptions): CredentialSource {
  const { env = process.env } = options;
  const isSet = (...names: readonly string[]): boolean => names.some((name) => (env[name] ?? "") !== "");
  if (isSet("AWS_PROFILE", "AWS_ACCESS_KEY_ID")) {
    return {
      server: { name: "the AWS profile or keys of the environment", unexplained: "Unauthenticated" },
      load: async () => (await import("@aws-sdk/credential-provider-node")).defaultProvider(),
    };
  }
  if (isSet("AWS_WEB_IDENTITY_TOKEN_FILE")) {
    return webIdentity(options, { tokenFile: "AWS_WEB_IDENTITY_TOKEN_FILE", config: {} });
  }
  if (isSet("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
    return {
      server: {
        name: "the container credentials endpoint (EKS Pod Identity agent or ECS)",
        tokenFile: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        unexplained: "Unavailable",
      },
      load: async () =>
        (await import("@aws-sdk/credential-provider-http")).fromHttp({ logger: silent, maxRetries: maxAttempts - 1 }),
    };
  }
  return {
    server: { name: "the instance metadata service (IMDSv2)", unexplained: "Unavailable" },
    load: async () =>
      (await import("@smithy/credential-provider-imds")).fromInstanceMetadata({
        logger: silent,
        maxRetries: maxAttempts - 1,
        ec2MetadataV1Disabled: true,
      }),
  };
}

function webIdentity(
  { region, endpoint }: CredentialSourceOptions,
  { tokenFile, config }: { tokenFile: string; config: { webIdentityTokenFile?: string; roleArn?: string } },
): CredentialSource {
  return {
    server: { name: "STS", tokenFile, unexplained: "Unauthenticated" },
    load: async () =>
      (await import("@aws-sdk/credential-provider-web-identity")).fromTokenFile({
        ...config,
        roleSessionName: "millwright",
        clientConfig: { region, maxAttempts, ...(endpoint === undefined ? {} : { endpoint }) },
      }),
  };
}

const ignore = (): void => undefined;
/** The SDK would print to the console. */
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
