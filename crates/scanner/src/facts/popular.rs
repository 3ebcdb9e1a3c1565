//! Names of popular packages, and names that are easily taken for one of them.

/// The public registry that names are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registry {
    Npm,
    Python,
    Other,
}

/// Popular packages of npm, and real ones whose names are near one of these.
#[rustfmt::skip]
const NPM: &[&str] = &[
    "react", "react-dom", "react-router", "react-router-dom", "react-native", "react-devtools", "react-redux", "react-query",
    "react-hook-form", "preact", "redux", "lodash", "lodash-es", "express", "axios", "chalk", "commander", "moment", "momento",
    "dayjs", "date-fns", "webpack", "webpack-cli", "rollup", "esbuild", "vitest", "typescript", "ts-node", "eslint", "tslint",
    "prettier", "babel-loader", "mongoose", "mongodb", "mysql", "mysql2", "mssql", "colord", "redis", "ioredis", "sequelize", "prisma", "knex",
    "nodemon", "dotenv", "dotenvx", "cross-env", "cors", "body-parser", "cookie-parser", "jsonwebtoken", "bcrypt", "bcryptjs",
    "passport", "socket.io", "socket.io-client", "puppeteer", "playwright", "cheerio", "request", "requests", "node-fetch",
    "underscore", "async", "bluebird", "inquirer", "yargs", "minimist", "rimraf", "mkdirp", "fs-extra", "colors", "color",
    "electron", "svelte", "angular", "jquery", "bootstrap", "tailwindcss", "postcss", "autoprefixer", "sass", "less",
    "styled-components", "graphql", "apollo-server", "fastify", "nestjs", "koa", "hapi", "winston", "pino", "morgan", "debug",
    "uuid", "nanoid", "classnames", "immer", "zustand", "mobx", "rxjs", "formik", "jotai", "storybook", "cypress", "mocha",
    "karma", "jasmine", "supertest", "sinon", "ethers", "web3", "openai", "langchain", "discord.js", "nodemailer", "multer",
    "sharp", "handlebars", "mustache", "marked", "markdown-it", "highlight.js", "chart.js", "three", "leaflet", "validator",
];

/// Popular packages of PyPI, and real ones whose names are near one of these.
#[rustfmt::skip]
const PYTHON: &[&str] = &[
    "requests", "request", "grequests", "numpy", "pandas", "scipy", "scapy", "matplotlib", "seaborn", "scikit-learn", "tensorflow", "keras", "torch",
    "torchvision", "torchaudio", "transformers", "diffusers", "datasets", "dataset", "accelerate", "tokenizers", "sentencepiece", "openai",
    "anthropic", "langchain", "llama-index", "fastapi", "uvicorn", "gunicorn", "flask", "django", "starlette", "pydantic",
    "sqlalchemy", "alembic", "psycopg", "psycopg2", "psycopg2-binary", "pymongo", "pymysql", "pymssql", "redis", "celery", "boto3",
    "botocore", "aiobotocore", "aiohttp", "httpx", "httpx2", "urllib3", "urllib", "certifi", "beautifulsoup4", "beautifulsoup",
    "selenium", "playwright", "scrapy", "pillow", "opencv-python", "imageio", "pytest", "pytest-cov", "tox", "black", "flake8",
    "pylint", "mypy", "isort", "ruff", "click", "typer", "colorama", "coloredlogs", "tqdm", "pyyaml", "jinja2", "markupsafe",
    "cryptography", "paramiko", "fabric", "ansible", "docker", "kubernetes", "setuptools", "wheel", "virtualenv", "pipenv",
    "poetry", "python-dotenv", "python-dateutil", "networkx", "nltk", "spacy", "gensim", "xgboost", "ngboost", "lightgbm", "catboost",
    "plotly", "streamlit", "gradio", "jupyter", "notebook", "ipython", "bpython", "jupyterlab", "openpyxl", "xlsxwriter", "pypdf", "pypdf2",
    "reportlab", "pdfplumber", "python-docx", "markdown", "markdown2", "lxml", "simplejson", "marshmallow", "websockets", "websocket", "loguru",
    "sympy", "simpy", "statsmodels", "polars", "pyarrow", "duckdb", "web3", "solana", "solara", "ccxt", "yfinance", "discord.py", "tweepy",
];

/// The shortest name that is compared: short ones are near many others.
const MIN_NAME: usize = 5;

/// Returns the popular package that a name is easily taken for: one letter is left out, added, replaced or swapped with the next.
pub(super) fn resembles(registry: Registry, name: &str) -> Option<&'static str> {
    let names = match registry {
        Registry::Npm => NPM,
        Registry::Python => PYTHON,
        Registry::Other => return None,
    };
    let is_listed = |known: &&&str| known.eq_ignore_ascii_case(name);
    if name.len() < MIN_NAME || !name.is_ascii() || names.iter().any(|known| is_listed(&known)) {
        return None;
    }
    names.iter().copied().find(|known| known.len() >= MIN_NAME && is_near(known.as_bytes(), name.as_bytes()))
}

/// Whether one edit makes one of two different words the other.
fn is_near(one: &[u8], other: &[u8]) -> bool {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (one.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default());
    let without_first = |word: &'_ [u8]| word.split_first().map(|(_, rest)| rest.to_vec());
    let is_longer = without_first(one).is_some_and(|rest| rest == other);
    let is_shorter = without_first(other).is_some_and(|rest| rest == one);
    let is_replaced = without_first(one).is_some() && without_first(one) == without_first(other);
    let is_swapped = match (one, other) {
        ([a, b, rest @ ..], [c, d, other_rest @ ..]) => (a, b) == (d, c) && rest == other_rest,
        _ => false,
    };
    is_longer || is_shorter || is_replaced || is_swapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_is_near() {
        for (one, other, expected) in [
            ("react", "reactt", true),
            ("react", "reat", true),
            ("react", "raect", true),
            ("react", "reect", true),
            ("reactt", "react", true),
            ("react", "raetc", false),
            ("react", "re", false),
            ("react", "preacts", false),
        ] {
            assert_eq!(is_near(one.as_bytes(), other.as_bytes()), expected, "{one} {other}");
        }
    }

    /// Two listed names may be near each other, and then neither resembles the other.
    #[test]
    fn no_popular_name_resembles_another() {
        for (registry, names) in [(Registry::Npm, NPM), (Registry::Python, PYTHON)] {
            for name in names {
                assert_eq!(resembles(registry, name), None);
            }
        }
    }
}
