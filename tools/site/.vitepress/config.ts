import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { anchorOf } from "../../docs/markdown-links.ts";
import { readPicture } from "../read-picture.ts";
import { searchOptions } from "../search-options.ts";

/** Written by tools/site/main.ts. */
const { sidebar, versions, repository } = JSON.parse(readFileSync(new URL("site.json", import.meta.url), "utf8"));

export default defineConfig({
  title: "Millwright",
  description: "A machine controller manager for Kubernetes",
  head: [["link", { rel: "icon", href: "/icon.svg" }]],
  srcDir: ".pages",
  outDir: "dist",
  cleanUrls: true,
  // Mermaid is one chunk, which only pages with a diagram load.
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: anchorOf },
    config(md) {
      // A page is a template of Vue, and double braces in a text are no expression.
      for (const rule of ["text", "code_inline"] as const) {
        const render = md.renderer.rules[rule];
        md.renderer.rules[rule] = (...all) => (render?.(...all) ?? "").replaceAll("{{", "&#123;&#123;");
      }
      // A picture is not made so small that its text cannot be read: style.css.
      const image = md.renderer.rules.image;
      md.renderer.rules.image = (tokens, index, options, env, self) => {
        const html = image?.(tokens, index, options, env, self) ?? "";
        const source = tokens[index]?.attrGet("src") ?? "";
        const { width, text } = readPicture(readFileSync(new URL(`../.pages${source}`, import.meta.url)));
        return `<span class="picture" tabindex="0" role="figure" aria-label="Picture" style="--em: ${width / text}px">${html}</span>`;
      };
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, options, env, self) => {
        const { info = "", content = "" } = tokens[index] ?? {};
        if (info.trim() !== "mermaid") return fence?.(tokens, index, options, env, self) ?? "";
        return `<Diagram source="${encodeURIComponent(content)}" />`;
      };
    },
  },
  themeConfig: {
    sidebar,
    nav: [{ text: "Documentation", link: "/contents" }, { text: "Try it", link: "/#what-you-see" }, versions],
    search: {
      provider: "local",
      options: {
        // The project book has a sidebar of its own, and no results.
        _render: (source, env, md) => (env.relativePath.startsWith("project/") ? "" : md.render(source, env)),
        miniSearch: { searchOptions },
      },
    },
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: repository }],
  },
});
