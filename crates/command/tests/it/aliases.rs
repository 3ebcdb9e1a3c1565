//! Rules hold for every spelling of what they are about.

use crate::decides::{effect, policy, rule};
use stockade_command::Effect::{self, Allow, Ask, Deny};
use stockade_command::rules::CommandPattern;
use stockade_command::{CommandPolicy, CommandRule, Layer};

/// Fails with everything that is wrong.
fn nothing(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn with(words: &str, effect: Effect) -> CommandPolicy {
    policy(vec![(Layer::User, vec![rule("r", words, effect)])])
}

#[test]
fn a_denial_holds_for_every_spelling() {
    let mut wrong = Vec::new();
    for (denied, commands) in [
        (
            "npm install",
            &[
                "npm i x",
                "npm add x",
                "npm in x",
                "npm ins x",
                "npm isntall x",
                "npm --prefix y i x",
                "npm -g i x",
                "corepack npm i x",
                "env A=1 npm i x",
                "sh -c 'npm i x'",
                "npm 'i' x",
            ][..],
        ),
        ("npm i", &["npm install x", "npm add x"]),
        ("npm run", &["npm run-script x", "npm rum x", "npm runScript x", "npm urn x", "npm test", "npm t"]),
        ("npm test", &["npm t", "npm tst", "npm run test", "npm run-script test"]),
        ("npm publish", &["npm publ", "npm pub"]),
        ("npm ci", &["npm ic", "npm clean-install", "npm cleanInstall", "npm install-cl"]),
        ("npm uninstall", &["npm rm x", "npm r x", "npm un x", "npm remove x", "npm unin x"]),
        ("yarn install", &["yarn", "yarn --frozen-lockfile", "yarn --cwd x", "yarn i"]),
        ("yarn run deploy", &["yarn deploy", "yarn run-script deploy", "yarn workspace a run deploy"]),
        ("yarn deploy", &["yarn run deploy"]),
        ("pnpm add", &["pnpm i x", "pnpm install x"]),
        (
            "npx",
            &[
                "npm exec x",
                "npm x y",
                "npm exe x",
                "pnpm dlx x",
                "yarn dlx x",
                "bunx x",
                "bun x y",
                "pnpx x",
            ],
        ),
        ("cargo build", &["cargo b", "cargo +nightly build", "cargo +nightly b", "cargo -q b"]),
        ("cargo b", &["cargo build"]),
        (
            "docker rm",
            &["docker container rm x", "docker container remove x", "docker --context y container rm x"],
        ),
        ("docker rmi", &["docker image rm x", "docker image remove x"]),
        ("docker container rm", &["docker rm x"]),
        ("docker images", &["docker image ls", "docker image list"]),
        ("docker compose", &["docker-compose up"]),
        (
            "docker-compose up",
            &["docker compose up", "docker --context x compose up", "docker compose -f y up"],
        ),
        (
            "pip install",
            &[
                "pip3 install x",
                "pip3.11 install x",
                "python -m pip install x",
                "python3 -m pip install x",
                "python3.12 -Im pip install x",
                "python -mpip install x",
                "uv pip install x",
                "/usr/bin/python3 -m pip --no-input install x",
            ],
        ),
        ("python -m pip install", &["pip install x", "python3 -m pip install x", "pip3 install x"]),
        ("pytest", &["python -m pytest", "python3 -B -m pytest x"]),
        ("uvx", &["uv tool run x", "pipx run x"]),
        (
            "kubectl delete pod",
            &[
                "kubectl delete po x",
                "kubectl delete pods x",
                "kubectl delete pod/x",
                "kubectl delete svc,po x",
                "kubectl -n prod delete po x",
            ],
        ),
        ("kubectl delete svc", &["kubectl delete service x", "kubectl delete services x"]),
        ("systemctl stop nginx", &["systemctl stop nginx.service", "service nginx stop"]),
        ("apt-get install", &["apt install x", "apt -y install x"]),
        ("apt remove", &["apt-get remove x"]),
        ("brew uninstall", &["brew rm x", "brew remove x"]),
        ("gh pr create", &["gh pr new", "gh --repo x pr new"]),
        ("git push", &["/usr/lib/git-core/git-push origin", "git -C x push", "git --no-pager push"]),
        ("git push --force", &["git push -f", "git push origin -uf", "git push --forc"]),
        ("git commit --no-verify", &["git commit -n -m x", "git commit -nm x"]),
        ("git branch -D", &["git branch -D x"]),
        (
            "rm -rf",
            &["rm -r --force x", "rm --recursive --force x", "rm -R -f x", "grm -rf x", "/bin/rm -fr x"],
        ),
        ("rm --recursive", &["rm -r x", "rm -R x", "rm -rf x"]),
        ("ip addr add", &["ip a add x", "ip address add x", "ip ad a x", "ip -4 a add x"]),
        ("svn commit", &["svn ci"]),
        ("hg commit", &["hg ci", "hg com"]),
        ("terraform destroy", &["terraform apply -destroy", "terraform apply --destroy", "tofu destroy"]),
        ("gcc", &["gcc-12 a.c"]),
    ] {
        for wanted in [Deny, Ask] {
            let policy = with(denied, wanted);
            let milder = commands.iter().filter(|command| effect(&policy, command) < wanted);
            wrong.extend(milder.map(|command| format!("{wanted} {denied}: {command}")));
        }
    }
    nothing(&wrong);
}

#[test]
fn what_is_something_else_is_not_denied() {
    let (builtin, mut wrong) = (CommandPolicy::builtin(), Vec::new());
    for (denied, commands) in [
        (
            "npm install",
            &["npm ls", "npm test", "npm install-test", "pnpm install", "yarn add x", "npm run i"][..],
        ),
        ("npm ci", &["npm install", "npm config get x"]),
        ("docker rm", &["docker container ls", "docker image rm x", "podman rm x", "docker volume rm x"]),
        ("docker", &["podman ps", "kubectl get pods"]),
        ("yarn", &["npx x", "npm ci"]),
        ("uv", &["pip install x", "pipx run x"]),
        ("pip install", &["pip list", "python -m pytest", "python -c 'import pip'", "uv sync"]),
        ("cargo build", &["cargo bench", "cargo test"]),
        ("kubectl delete pod", &["kubectl get pods", "kubectl delete podmonitor x"]),
        ("rm -rf", &["rm -r x", "rm -f x"]),
        ("git push --force", &["git push", "git push -n"]),
        ("terraform destroy", &["terraform apply", "terraform plan"]),
        ("systemctl stop nginx", &["systemctl stop nginx2", "systemctl status nginx"]),
        ("apt install", &["apt list", "apt-get update"]),
    ] {
        let policy = with(denied, Deny);
        let other = commands.iter().filter(|command| effect(&policy, command) != effect(&builtin, command));
        wrong.extend(other.map(|command| format!("deny {denied}: {command}")));
    }
    nothing(&wrong);
}

#[test]
fn what_is_allowed_is_allowed_only_in_spellings_that_are_the_same() {
    let mut wrong = Vec::new();
    for (allowed, command, expected) in [
        ("docker rm", "docker container rm x", true),
        ("docker container rm", "docker rm x", true),
        ("docker container", "docker rm x", false),
        ("docker compose", "docker-compose up", false),
        ("apt-get install", "apt install x", false),
        ("gh pr create", "gh pr new", true),
        ("brew doctor", "brew dr", true),
        ("pytest", "python -m pytest", false),
        ("git push", "/usr/lib/git-core/git-push x", false),
        ("tool3", "tool x", false),
        ("tool", "tool3 x", false),
        ("bundle install", "bundle --gemfile=/tmp/evil", false),
        ("yarn install", "yarn --use-yarnrc=/tmp/evil", false),
    ] {
        let policy = with(allowed, Allow);
        if (effect(&policy, command) == Allow) != expected {
            wrong.push(format!("allow {allowed}: {command} {}", effect(&policy, command)));
        }
    }
    nothing(&wrong);
}

/// `yarn` alone is `yarn install`, and an exact rule is about nothing with more words than that.
#[test]
fn what_is_allowed_exactly_takes_nothing_more_by_another_name() {
    for (words, same, more) in [
        (["yarn", "install"], "yarn", "yarn --use-yarnrc=/tmp/evil"),
        (["yarn", "install"], "yarn", "yarn --frozen-lockfile"),
        (["bundle", "install"], "bundle", "bundle --gemfile=/tmp/evil"),
        (["docker", "rm"], "docker container rm", "docker container rm x"),
    ] {
        let words = words.map(|word| vec![word.to_owned()]).to_vec();
        let exact = CommandRule::new("r".to_owned(), CommandPattern::Exact(words), Allow);
        let policy = policy(vec![(Layer::User, vec![exact])]);
        assert_eq!(effect(&policy, same), Allow, "{same}");
        assert!(effect(&policy, more) > Allow, "{more}");
    }
}

#[test]
fn a_rule_may_name_another_form() {
    let rules = |rules: &[(&str, &str, Effect)]| {
        let rules = rules.iter().map(|(id, words, effect)| rule(id, words, *effect)).collect();
        policy(vec![(Layer::User, rules)])
    };
    let with_bunx = rules(&[("no", "npx", Deny), ("yes", "bunx", Ask)]);
    assert_eq!(effect(&with_bunx, "bunx x"), Ask);
    assert_eq!(effect(&with_bunx, "npx x"), Deny);
    assert_eq!(effect(&with_bunx, "pnpm dlx x"), Deny);
    let python = rules(&[("no", "python", Deny), ("yes", "python3", Ask)]);
    assert_eq!(effect(&python, "python3 x.py"), Ask);
    assert_eq!(effect(&python, "python x.py"), Deny);
    // One and the same thing cannot be allowed by another name.
    let same = rules(&[("no", "docker rm", Deny), ("yes", "docker container rm", Allow)]);
    assert_eq!(effect(&same, "docker rm x"), Deny);
    assert_eq!(effect(&same, "docker container rm x"), Deny);
    let wider = rules(&[("no", "docker container", Deny), ("yes", "docker rm", Allow)]);
    assert_eq!(effect(&wider, "docker container rm x"), Deny);
}

/// What installs from an address is found however it is spelled.
#[test]
fn dangers_are_found_in_every_spelling() {
    let builtin = CommandPolicy::builtin();
    for command in [
        "npm isntall https://e.example/x.tgz",
        "npm inst git+https://e.example/x",
        "pnpm i https://e.example/x.tgz",
        "yarn i https://e.example/x.tgz",
    ] {
        assert!(effect(&builtin, command) >= Ask, "{command}");
    }
}
