# fix.sh: what the scripted agent does about $HAT_TASK. It prints the changed files.
case $HAT_TASK in
B1) sed -i 's/color: #fffdf5; background: #fffdf5/color: #fffdf5; background: #2a5d34/' static/shop.css && echo static/shop.css ;;
B2) sed -i 's/Chekout/Checkout/' pages/*.html && ls pages/*.html ;;
B3) sed -i 's/n < products.length - 1/n < products.length/' static/shop.js && echo static/shop.js ;;
B4) sed -i 's/sum + p.cost/sum + p.price/' static/shop.js && echo static/shop.js ;;
B5) sed -i "s|return search.match(/subject=(\[^&\]\*)/)\[1\]|return (search.match(/subject=([^\&]*)/) \|\| ['', ''])[1]|" static/shop.js && echo static/shop.js ;;
B6) sed -i 's/statusCode = 500/statusCode = 404/' server.js && echo server.js ;;
esac
