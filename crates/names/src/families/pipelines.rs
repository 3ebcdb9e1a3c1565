//! Continuous integration: other machines run what is named there, often with secrets at hand.

use super::DAILY;
use crate::name::Name;

pub(super) const ROWS: &[Name] = &[Name {
    id: "pipelines",
    tool: "GitHub Actions, GitLab CI and others",
    paths: &[
        ".github/workflows",
        ".github/actions",
        ".gitlab-ci.yml",
        ".gitlab/ci",
        ".circleci",
        ".travis.yml",
        "Jenkinsfile",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        "appveyor.yml",
        ".appveyor.yml",
        ".drone.yml",
        ".woodpecker.yml",
        ".woodpecker",
        ".buildkite",
        ".forgejo/workflows",
        ".gitea/workflows",
    ],
    why: "Every push runs it, where tokens and keys for publishing are at hand.",
    matches: &[".github/workflows/ci.yml", "Jenkinsfile", "x/.gitlab-ci.yml"],
    clean: &[".github/ISSUE_TEMPLATE.md", "jenkins.md"],
    ..DAILY
}];
