//! Programs for repositories, containers, clusters and clouds. Options that choose another server or account file, write a file, log
//! requests or start a program are missing.

use super::{Listed, program, words};

#[rustfmt::skip]
pub(super) static DEVELOPER: [Listed; 9] = [
    program(&["docker", "podman", "nerdctl"],
        "-a -f? -h -H -l -n? -q -s -t -v --all --details --digests --filter= --follow --format= --help --human --last= --latest --no-color --no-log-prefix --no-stream \
         --no-trunc --orphans --quiet --services --since= --size --status= --tail= --timestamps --tree --until= --verbose --version"),
    // Others select another cluster, log requests, write a profile, or start an editor.
    program(&["kubectl", "oc"],
        "-n: -o: -l: -c: -L: -A -w -f -p -R -h -q -i -v: --namespace= --output= --selector= --all-namespaces --watch --watch-only --container= --follow \
         --previous --tail= --since= --since-time= --timestamps --prefix --all-containers --max-log-requests= --limit-bytes= --show-labels --show-kind \
         --show-managed-fields --sort-by= --field-selector= --no-headers --ignore-not-found --chunk-size= --label-columns= --context= --cluster= \
         --request-timeout= --client --short --api-group= --namespaced=? --verbs= --cached --recursive --api-version= --show-events=? --containers \
         --sum --types= --revision= --timeout= --subresource= --quiet --list --dry-run=? --filename= --overwrite --all --replicas= --image= --port= \
         --target-port= --type= --protocol= --name= --external-name= --tcp= --min= --max= --cpu-percent= --labels= --env= --from-literal= --schedule= \
         --class= --rule= --clusterrole= --role= --serviceaccount= --user= --group= --verb= --resource= --resource-name= --hard= --scopes= --limits= \
         --requests= --validate=? --server-side --save-config --record --force --grace-period= --now --wait=? --current-replicas= --resource-version= \
         --match-server-version --for= --help"),
    program(&["helm"],
        "-n: -A -a -o: -q -l: -r -m: -d -h --namespace= --all-namespaces --all --output= --short --selector= --filter= --max= --offset= --date --reverse \
         --deployed --failed --pending --superseded --uninstalled --uninstalling --revision= --show-resources --show-desc --kube-context= --time-format= \
         --template= --client --versions --version= --regexp --devel --max-col-width= --help"),
    words(&["terraform", "tofu"], "-check -diff -help -json -list=false -no-color -recursive -version -write=false --help --version"),
    // Options for certificate files and for the parts to print.
    words(&["openssl"],
        "-in: -noout -text -subject -issuer -dates -startdate -enddate -serial -fingerprint -sha1 -sha256 -sha384 -sha512 -md5 -purpose -ext: -checkend: \
         -checkhost: -checkip: -checkemail: -modulus -pubkey -hash -subject_hash -issuer_hash -nameopt: -certopt: -inform: -email -ocsp_uri -ocspid -alias \
         -lastupdate -nextupdate -verify: -untrusted: -trusted: -verbose -x509_strict -partial_chain -show_chain -no_check_time -attime: -verify_hostname: \
         -verify_email: -verify_ip: -policy_check -crl_check -crl_check_all -issuer_checks -a -v -V -b -o -p -d -f -r -e -m -s -c -stdname -psk -srp \
         -tls1 -tls1_1 -tls1_2 -tls1_3 -i -dump -dlimit: -offset: -length: -hex -bits: -generate -safe -checks: -help"),
    program(&["aws"],
        "--all-availability-zones --account-id --dimensions --granularity --metrics --metric-name --period --statistics --time-period --stack-status-filter \
         --launch-type --service-namespace --key --auto-scaling-group-names --bucket --cli-connect-timeout --cli-read-timeout --cluster --cluster-arn --cluster-name --clusters --color \
         --certificate-arn --stream-name --cluster-identifier --db-cluster-identifier --db-instance-identifier --delimiter --desired-status --distribution-id --domain-name --end-time --expand-source --filter --filters --function-name \
         --group-id --group-ids --group-name --group-names --help --hosted-zone-id --human-readable --image-ids --include-deleted --include-linked-accounts --instance-ids --key-id --key-names \
         --launch-configuration-names --limit --listener-arn --load-balancer-arn --load-balancer-arns --load-balancer-names --log-group-name \
         --log-group-name-prefix --log-stream-name --log-stream-name-prefix --max-items --max-records --max-results --name --names --namespace --network-interface-ids --next-token \
         --no-cli-auto-prompt --no-cli-pager --no-paginate --nodegroup-name --order-by --output --owners --owner-ids --page-size --path-prefix --policy-arn --policy-name --prefix \
         --profile --profile-name --query --queue-name-prefix --queue-url --recursive --region --repository-name --repository-names --role-name --route-table-ids --scope \
         --services --service --service-name --service-names --snapshot-ids --stack-name --start-time --starting-token --status --subnet-ids --summarize --table-name --target-group-arn \
         --target-group-arns --tasks --task-definition --topic-arn --trail-name-list --user-name --version --volume-ids --vpc-ids --vpc-endpoint-ids"),
    program(&["gcloud"],
        "-h -q --account --all --available --configuration --filter --flatten --format --help --limit --location --no-user-output-enabled --only-local-state --page-size --project --quiet \
         --region --regions --show-deleted --sort-by --uri --user-output-enabled --verbosity --version --zone --zones"),
    program(&["az"],
        "-d -g? -h -n? -o? -r? -z? --all --detail --help --ids --name --only-show-errors --output --query --refresh --resource-group --show-details --subscription --verbose \
         --version"),
    // Others open a browser or an editor, or choose another server.
    program(&["gh", "glab"],
        "-a? -A? -b? -B? -c -d -D? -e? -f -F? -g? -G? -h -H? -i? -j? -l? -L? -m? -n? -o? -O? -P? -q? -r? -R? -s? -S? -t -u? -v -y -Z --active --all --app --archived --assignee --author \
         --author-date --base --branch --checks --closed --color --comments --commenter --commit --committer --created --draft --event --exclude-drafts --exclude-pre-releases --exit-status \
         --extension --filename --fork --head --help --include-prs --interval --involves --job --jq= --json --label --language --license --limit --locked --log --log-failed --match --mention --mentions \
         --merged --merged-at --milestone --name-only --no-archived --number --order --output --owner --page --patch --per-page --project --repo= --required --review --reviewed-by --search --sort \
         --source --state --status --stars --size --template= --topic --updated --user --verbose --verify --version --visibility --watch --workflow --yaml"),
];
