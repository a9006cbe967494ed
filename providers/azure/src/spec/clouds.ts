/** Names of Azure's clouds, as `cloudConfiguration.name` spells them. */
export const cloudNames = ["AzurePublic", "AzureChina", "AzureGovernment"] as const;

/** One of {@link cloudNames}. */
export type CloudName = (typeof cloudNames)[number];

/** Where a cloud is. */
export interface Cloud {
  /** Azure Resource Manager. */
  readonly endpoint: string;
  /** Entra ID. */
  readonly authorityHost: string;
  /** What tokens are for. The SDK does not follow the cloud with it. */
  readonly scope: string;
}

/** The clouds, as `azcore/cloud` of Azure's SDK for Go has them. */
const clouds: Readonly<Record<CloudName, Cloud>> = {
  AzurePublic: {
    endpoint: "https://management.azure.com",
    authorityHost: "https://login.microsoftonline.com",
    scope: "https://management.azure.com/.default",
  },
  AzureChina: {
    endpoint: "https://management.chinacloudapi.cn",
    authorityHost: "https://login.chinacloudapi.cn",
    scope: "https://management.core.chinacloudapi.cn/.default",
  },
  AzureGovernment: {
    endpoint: "https://management.usgovcloudapi.net",
    authorityHost: "https://login.microsoftonline.us",
    scope: "https://management.core.usgovcloudapi.net/.default",
  },
};

/** The cloud of a name, or whatever stands in its place at an address. */
export const cloudAt = (name: CloudName, endpoint?: string): Cloud =>
  endpoint === undefined ? clouds[name] : { endpoint, authorityHost: endpoint, scope: `${endpoint}/.default` };
